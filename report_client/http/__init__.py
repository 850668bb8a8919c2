# SPDX-License-Identifier: Apache-2.0
"""The only folder that speaks HTTP to placement.

Begin with ``placement.py``, which sends a request and returns its answer.
``codec*.py`` turn operations into requests and answers into values, ``paths.py``
has the routes, ``error_mapping.py`` turns statuses into errors, and
``list_stream.py`` decodes long lists. It may import the agent's ``plan/`` only.
"""
