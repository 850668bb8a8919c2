# SPDX-License-Identifier: Apache-2.0
"""Find the requirements that keep a provider out of the candidates.

Begin with ``why_not.py``. Placement is the judge: ``search.py`` asks it for
parts of the request, through ``oracle.py``, and ``values/wording.py`` words
the answer. It may import what ``candidates/`` may import.
"""
