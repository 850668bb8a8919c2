# SPDX-License-Identifier: Apache-2.0
"""The one place that speaks HTTP to placement.

Begin with ``placement.py`` (send a request, read an answer). ``codec.py`` turns
operations into requests, ``error_mapping.py`` turns statuses into errors,
``list_stream.py`` decodes long lists. It may import ``operations/`` only.
"""
