# SPDX-License-Identifier: Apache-2.0
"""The state database: everything that must survive a restart.

Begin with ``state.py``: it puts the parts together. ``record/`` has what this
agent added, ``snapshot/`` what placement had when it was last read, and
``nodes.py`` the nodes that drivers reported. ``journal.py`` has the writes in
progress and the transactions over several parts. ``approvals.py`` brings a
person's approval from a command to the daemon, ``handover/`` moves the record
of a node to another agent, ``history/`` tells what changed, ``database/`` is
the file.
It may import ``tree/``, ``plan/``, ``limits/``, ``ownership/`` and ``virt/``.
"""
