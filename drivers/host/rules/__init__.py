# SPDX-License-Identifier: Apache-2.0
"""Rules: conditions over facts, and the names that they give.

Pure: no I/O, configuration, logging or clock. Begin with ``rule.py``, the values.
``parse.py`` makes them of a document that fits ``schema.py``, and
``positions.py`` finds the place of a mistake; ``language/`` has the expressions.
``evaluate.py`` decides the outcome of each rule, ``placing.py`` puts the outcomes
into the tree, and ``findings.py`` tells the reasons. ``starter/`` has the rules
that ship. It may import ``facts/``, the tree and the contract.
"""
