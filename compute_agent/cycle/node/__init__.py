# SPDX-License-Identifier: Apache-2.0
"""The cycle of one node: observe, describe, plan, apply, and again after a conflict.

Begin with ``node_cycle.py``. ``node_planner.py`` makes the plan: it calls
``describe.py`` and ``ownership/``, and asks ``consumers.py`` what is in use.
``empty_plans.py`` reuses empty plans, ``conflicts.py`` counts the conflicts.
``node_plan.py`` and ``node_result.py`` are the values. Of ``cycle/``, the
folder imports ``effects.py`` and ``report_client.py``.
"""
