# SPDX-License-Identifier: Apache-2.0
"""The daemon's metrics and its health, for Prometheus and for probes.

Begin with ``metrics.py``, which hears of each cycle, request and call of a
driver. ``current.py`` has the values of the last cycle. ``server.py`` answers
HTTP; ``textfile.py`` writes a file for node_exporter. ``values/`` is pure: it
declares each metric and judges the daemon's health.
``cmd/run/monitors.py`` connects all of it. It may import ``cycle`` and what
that imports, and prometheus-client.
"""
