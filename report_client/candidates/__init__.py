# SPDX-License-Identifier: Apache-2.0
"""Allocation candidates: ask which providers could meet a request.

Begin with ``candidates.py``. In ``values/``, ``query.py`` is the request, and
``flavor.py`` turns a flavor into one; the answer and the facts about a tree are
there, too.
``why_not/`` finds the requirements that a provider fails. It may import
``api/``, ``observe/``, ``http/``; from the agent ``tree/``, ``plan/`` and
errors.
"""
