# SPDX-License-Identifier: Apache-2.0
"""Rules: conditions over facts, and the names that they give.

Begin with ``rule.py``, the values. ``files/`` reads rule files, ``language/``
has their expressions. ``evaluate.py`` decides the outcome of each rule with
the facts as ``values.py`` has them, ``providers.py`` unites the outcomes,
``placing.py`` puts them into the tree, and ``findings.py`` tells the reasons.
``starter/`` has the rules that ship. It may import ``facts/``, the tree and the
contract.
"""
