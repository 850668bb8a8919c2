# SPDX-License-Identifier: Apache-2.0
"""Find the requirements that keep a provider out of the candidates.

Begin with ``why_not.py``. Placement is the judge: ``search.py`` asks it for
parts of the request, through ``oracle.py``, and ``wording.py`` words the
answer. ``requirements.py``, ``neighbourhood.py`` and ``wording.py`` are pure.
It may import what ``candidates/`` may import.
"""
