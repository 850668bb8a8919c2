# SPDX-License-Identifier: Apache-2.0
"""Which names and providers belong to whom, and therefore which may be removed.

Begin with ``resolve.py``: assertions, the record and the policy in, the wanted
providers out. ``claims.py`` decides name by name. Pure; it may import
``tree/`` and ``limits/``.
"""
