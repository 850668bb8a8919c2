# SPDX-License-Identifier: Apache-2.0
"""Allocation candidates: ask which providers could meet a request.

Begin with ``candidates.py``. ``query.py`` is the request, ``answer.py`` the
answer, ``flavor.py`` turns a flavor into a request. ``why_not/`` finds the
requirements that a provider fails. It may import ``api/``, ``observe/``,
``http/``; from the agent ``tree/``, ``plan/`` and errors.
"""
