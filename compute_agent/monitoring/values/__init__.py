# SPDX-License-Identifier: Apache-2.0
"""Declared metrics, and the values that they and the daemon's health have.

Pure: no I/O, configuration, logging or clock. Begin with
``declared_metrics.py``. ``tally.py`` counts what a cycle did, ``routes.py``
names the route of a request, ``health.py`` judges whether the daemon works, and
``address.py`` reads the option with the address.
"""
