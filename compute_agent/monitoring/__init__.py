# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics and its health, for Prometheus and for probes.

Begin with ``metrics.py``, which hears of each cycle, request and call of a
driver. ``declared_metrics.py`` declares each metric (a ``family.py``).
``current.py`` has the values of the last cycle, ``tally.py`` counts what a
cycle did, and ``routes.py`` names the route of a request. ``health.py`` judges
whether the daemon works. ``server.py`` answers HTTP at the address of
``address.py``; ``textfile.py`` writes a file for node_exporter.
``daemon_cycles.py`` says what is known of the daemon's cycles.
``cmd/run/monitors.py`` connects all of it. It may import ``cycle`` and what
that imports, and prometheus-client.
"""
