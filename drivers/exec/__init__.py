# SPDX-License-Identifier: Apache-2.0
"""The driver of programs: a driver in any language, as ``exec:PATH``.

Begin with ``driver.py``. ``program.py`` runs the program, and ``answers.py``, which
is pure, has the schemas of its answers. The folder may import the modules of
``compute_agent`` that ``docs/drivers.md`` lists; ``contract.py``, which only the
contract suite loads, also imports ``compute_agent.testing``.
"""
