# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of placement, as values.

Begin with ``codec.py``, which turns answers into values; ``codec_writes.py``
and ``codec_allocations.py`` turn operations into requests. ``paths.py`` has the
routes, ``error_mapping.py`` turns statuses into errors, and ``list_stream.py``
decodes long lists. Pure; it may import the agent's ``tree/``, ``plan/`` and
errors, and ``report_client/errors.py``.
"""
