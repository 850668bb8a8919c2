# SPDX-License-Identifier: Apache-2.0
"""Find the requirements that keep a provider out of the candidates.

Begin with ``why_not.py``. Placement is the judge: ``search.py`` asks it for
parts of the request, through ``oracle.py``, and ``wording.py`` words the
answer. The two decisions of the search that need no I/O are pure modules of
their own: ``minimal_sets.py`` (the smallest sets that fail together) and
``certain_failures.py`` (conditions that fail for every provider in reach). It
may import what ``candidates/`` may import.
"""
