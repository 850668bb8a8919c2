# SPDX-License-Identifier: Apache-2.0
"""One cycle, and the loop that repeats it: observe, describe, plan, apply.

Begin with ``resource_tracker.py`` (one cycle for all nodes), then ``node/``
(the cycle of one node), ``describing/`` (its description by all sources) and
``planning/`` (the decision, which is pure). ``judging.py`` passes on the
limits' verdicts, and ``departures/`` handles the nodes that left.
``service.py`` is the loop, ``values/schedule.py`` its times, ``news.py`` its
log lines. The folder may import every folder of the agent except ``cmd/``; it
reaches the report client through the Protocol in ``values/report_client.py``.
"""
