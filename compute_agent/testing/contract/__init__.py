# SPDX-License-Identifier: Apache-2.0
"""The contract between the agent and a driver, as rules that can be checked.

Begin with ``rules/catalogue.py``: ``Rule`` and the list of all rules;
``rules/`` has the rules by subject. A rule gets a ``Trial``: a driver in a
``World``, which its author writes (``world.py``), an agent around it, and a
real placement. ``watch.py`` counts the driver's calls on its sources and makes
them fail. ``asking.py`` asks it for changes as the daemon does. ``runner.py``
checks one rule. Nothing here needs pytest; ``../suite.py`` makes a pytest test
of each rule.

It may import anything of the agent, ``../fixtures/`` and ``../values/``.
"""
