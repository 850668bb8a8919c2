# SPDX-License-Identifier: Apache-2.0
"""Recorded hosts: what a description read, as files that can be read again.

Begin with ``raw_evidence.py``, which ``probe --raw`` asks for. ``recorder.py``
remembers what the sources of a host answer, as files that it describes, and
``redaction.py`` replaces serial numbers, addresses and names. Tests read the
files again (``tests/support/recorded_sources.py``). The folder may import
``sources`` and the modules of the driver that it names.
"""
