# SPDX-License-Identifier: Apache-2.0
"""From the observation of a node to its plan; nothing is written to placement.

Begin with ``node_planner.py``: it checks the root (``root_checks.py``),
describes the node (``descriptions.py``; its drivers take turns in
``driver_turns.py``, and ``describe.py`` speaks to one) and
decides what it should have (``wanted_providers.py``; ``consumers.py`` asks what
is in use). ``empty_plans.py`` reuses empty plans, ``node_plan.py`` is the
result. Of ``cycle/``, the folder imports ``report_client.py``.
"""
