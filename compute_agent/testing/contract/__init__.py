# SPDX-License-Identifier: Apache-2.0
"""The contract between the agent and a driver, as rules that can be checked.

Begin with ``rule.py``; ``rules/`` has the rules by subject and lists them in
``rules/catalogue.py``. A rule gets a ``Trial``: a driver in a ``World``, an
agent around it, and a real placement; ``outside/`` has the world and its
faults. ``runner.py`` checks one rule, ``report.py`` makes the published proof.
Nothing here needs pytest; ``../suite.py`` makes a pytest test of each rule.

It may import anything of the agent, and ``../fixtures/``.
"""
