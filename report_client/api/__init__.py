# SPDX-License-Identifier: Apache-2.0
"""Placement for people and programs: providers and traits, read and changed.

Begin with ``providers.py`` and ``traits.py``. A change reads, merges and writes
again on a conflict (``optimistic_update.py``). It may import ``http/`` and
``operations/``.
"""
