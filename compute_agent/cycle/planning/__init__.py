# SPDX-License-Identifier: Apache-2.0
"""The decision about a node, from its description to its plan.

Pure: no I/O, configuration, logging or clock. Begin with ``decide.py``. What it
lacks it names, and ``node/node_planner.py`` reads it. ``node_plan.py`` is the
result, ``empty_plans.py`` reuses empty plans. Of ``cycle/``, the folder imports
nothing.
"""
