# SPDX-License-Identifier: Apache-2.0
"""The client of the placement service; begin with ``client.py``.

``http/`` sends requests,
``observe/`` reads, ``plan/`` compares, ``apply/`` writes. ``api/`` and
``candidates/`` are for people and other programs.
"""
