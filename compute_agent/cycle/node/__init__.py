# SPDX-License-Identifier: Apache-2.0
"""The cycle of one node: observe, describe, plan, apply, and again after a conflict.

Begin with ``node_cycle.py``. ``node_planner.py`` makes the plan: it checks the
root (``root_checks.py``), describes the node (``descriptions.py``, with the
driver in ``describe.py``) and resolves what it should have
(``wanted_providers.py``, with ``consumers.py`` for what is in use).
``empty_plans.py`` reuses empty plans, ``conflicts.py`` counts the conflicts,
``refusals.py`` keeps the refused operations.
``node_plan.py`` and ``node_result.py`` are the values. Of ``cycle/``, the
folder imports ``effects.py`` and ``report_client.py``.
"""
