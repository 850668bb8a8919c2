# SPDX-License-Identifier: Apache-2.0
"""The command ``run``: the daemon.

Begin with ``process.py``, which ``run.py`` calls. ``cycles.py`` waits before
the first cycle and reloads between two, ``turns.py`` tells whether this agent
reports or stands by, ``lifetime.py`` logs the start and the stop and tells each
cycle to its listeners (``cycle_listeners.py``), ``monitors.py`` makes the
metrics, ``daemon_history.py`` writes start, stop and outages into the history.
``compute_agent/cycle/service.py`` is the daemon's loop.
"""
