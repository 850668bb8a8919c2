# SPDX-License-Identifier: Apache-2.0
"""Recorded hosts: what a description read, as files that can be read again.

Begin with ``raw_evidence.py``, which ``probe --raw`` asks for. ``recorder.py``
remembers what the sources of a host answer, ``redaction.py`` replaces serial
numbers, addresses and names, and ``recorded_host.py`` has the sources of such
a recording. It may import ``sources`` and the modules of the driver that it
names.
"""
