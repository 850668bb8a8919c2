# SPDX-License-Identifier: Apache-2.0
"""The state database: everything that must survive a restart.

Begin with ``state.py``: it puts the parts together. ``records.py``,
``journal.py``, ``snapshot.py`` and ``nodes.py`` each own some tables of
``schema.py``; ``handover.py`` moves the record of a node between agents, and
``approvals.py`` brings a person's approval from a command to the daemon.
It may import ``tree/``, ``plan/``, ``limits/``, ``ownership/`` and ``virt/``.
"""
