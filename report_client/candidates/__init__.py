# SPDX-License-Identifier: Apache-2.0
"""Allocation candidates: which providers could meet a request, and why not.

Begin with ``candidates.py``; ``why_not/`` finds the requirements that a provider
fails. It may import ``api/``, ``observe/``, ``http/`` and ``operations/``.
"""
