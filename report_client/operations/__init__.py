# SPDX-License-Identifier: Apache-2.0
"""The operations that a plan consists of, as values.

Begin with ``write.py``, the questions that every operation answers about
itself, and ``operations.py``, the kinds that exist. ``reshape.py`` moves
allocations. Pure; it may import the agent's ``tree/``, ``plan/`` and errors
only.
"""
