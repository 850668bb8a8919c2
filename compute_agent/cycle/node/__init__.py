# SPDX-License-Identifier: Apache-2.0
"""The cycle of one node: observe, plan and apply, and again after a conflict.

Begin with ``node_cycle.py``. ``first_writes.py`` asks for approvals,
``removals.py`` counts what goes, ``refusals.py`` keeps the refused operations
and ``conflicts.py`` counts the conflicts. ``cycle_context.py`` is what the
nodes of a cycle share, ``node_result.py`` the result. Of ``cycle/``, the folder
imports ``planning/``, ``effects.py`` and ``report_client.py``.
"""
