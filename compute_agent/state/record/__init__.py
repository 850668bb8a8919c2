# SPDX-License-Identifier: Apache-2.0
"""The record: what this agent added, and which source claims it.

Begin with ``records.py``; ``rows.py`` reads its rows. ``agreed_names.py`` has
the names of nodes on which the agent and placement agreed, ``undos.py`` the
changes that other writers undid. No other place has this knowledge, so a write
is durable before the request that depends on it. The folder may import
``snapshot/`` and ``database/``.
"""
