# SPDX-License-Identifier: Apache-2.0
"""The command ``run``: the daemon.

Begin with ``run.py``. ``cycles.py`` waits before the first cycle and reloads
between two, ``lifetime.py`` logs the start and the stop and tells each cycle to
its listeners (``cycle_listeners.py``), ``monitors.py`` makes the metrics,
``daemon_history.py`` writes start, stop and outages into the history,
``nova_files.py`` names the files that nova-compute uses too.
``compute_agent/cycle/service.py`` is the daemon's loop.
"""
