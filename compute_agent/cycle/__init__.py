# SPDX-License-Identifier: Apache-2.0
"""One cycle, and the loop that repeats it: observe, describe, plan, apply.

Begin with ``resource_tracker.py`` (one cycle for all nodes), then
``node_cycle.py`` (one node) and ``node_planner.py`` (how its plan is made, and
where ownership is resolved). ``judging.py`` passes on the limits' verdicts,
and ``departed_cycles.py`` handles departed nodes. ``service.py`` is the loop.
The result of a node's cycle is in ``node_result.py``, and ``conflicts.py``
counts its conflicts. The folder may import every folder of the agent except
``cmd/``; it reaches the report client through the Protocols in
``report_client.py``.
"""
