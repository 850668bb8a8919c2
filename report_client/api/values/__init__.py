# SPDX-License-Identifier: Apache-2.0
"""Names of traits, and the conditions of queries, as values.

Pure: no I/O, configuration, logging or clock. Begin with ``provider_query.py``.
It may import the agent's ``tree/`` and errors, and ``http/messages/`` only.
"""
