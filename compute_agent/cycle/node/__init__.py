# SPDX-License-Identifier: Apache-2.0
"""The cycle of one node: observe, plan and apply, and again after a conflict.

Begin with ``node_cycle.py``. ``node_planner.py`` makes the plan, after the
checks in ``node_checks.py``; ``node_policies.py`` has the rules for it, and
``known_consumers.py`` spares placement questions.
``setbacks.py`` keeps the refused operations and counts the conflicts,
``node_result.py`` is the result. Of ``cycle/``, the folder
imports ``describing/``, ``planning/``, ``node_list.py`` and ``values/``.
"""
