# SPDX-License-Identifier: Apache-2.0
"""The rule files: read, checked, and united.

Begin with ``rule_files.py``. ``schema.py`` is the format, ``parse.py`` turns a
document into rules, and a ``mistake.py`` has the place that ``positions.py``
finds. It may import ``language/`` and the values of ``rules/``.
"""
