# SPDX-License-Identifier: Apache-2.0
"""The client of the placement service; begin with ``client.py``.

``http/`` sends requests, ``observe/`` reads, ``apply/`` writes a plan, and
``plan/`` prints and follows it. ``api/`` and
``candidates/`` are for people and other programs.
"""
