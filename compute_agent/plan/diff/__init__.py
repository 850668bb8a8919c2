# SPDX-License-Identifier: Apache-2.0
"""The operations that lead from an observation to the wanted providers.

Begin with ``diff.py``: ``plan`` makes a node's plan, ``operations`` finds what
turns one snapshot into another. ``hierarchy.py`` creates, moves and deletes
providers, ``provider_stages.py`` changes their contents, and ``reshape.py``
moves allocations, which ``moves.py`` checks. Pure; it may import ``tree/``,
``operations/`` and the values of ``plan/``.
"""
