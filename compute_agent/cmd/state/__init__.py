# SPDX-License-Identifier: Apache-2.0
"""The commands ``state …``: show, export and import the agent's record.

Begin with ``state_show.py``; ``compute_agent/state/`` keeps the record.
"""
