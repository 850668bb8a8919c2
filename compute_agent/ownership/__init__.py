# SPDX-License-Identifier: Apache-2.0
"""Ownership: who owns names and providers, and therefore what may be removed.

Begin with ``resolve.py``: assertions, the record and the policy in, the wanted
providers out. ``claims.py`` decides name by name, and says why a name goes.
Pure; it may import ``tree/``, ``plan/`` and ``limits/``.
"""
