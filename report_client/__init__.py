# SPDX-License-Identifier: Apache-2.0
"""The client of the placement service; begin with ``client.py``.

``operations/`` has the writes as values, ``http/`` sends requests,
``observe/`` reads, ``plan/`` compares, ``apply/`` writes. ``api/`` and
``candidates/`` are for people and other programs.
"""
