# SPDX-License-Identifier: Apache-2.0
"""Expressions in CEL, and names that contain them.

Begin with ``expression.py``. ``lexing.py`` finds the facts that an expression
reads, refuses what could use memory without limit, and finds expressions that
could take an unknown attribute for an absent one; ``template.py`` makes names. It
may import ``facts/`` and the agent's grammar of names. Only ``expression.py``
imports the CEL library.
"""
