# SPDX-License-Identifier: Apache-2.0
"""The state database: everything that must survive a restart.

Begin with ``state.py``: it puts the parts together. ``records.py`` has what
this agent added, ``snapshot.py`` what placement had when it was last read, and
``nodes.py`` the nodes that drivers reported. ``journal.py`` has the writes in
progress and the transactions over several parts. ``approvals.py`` brings a
person's approval from a command to the daemon, ``handover.py`` moves the
record of a node to another agent, ``history/`` tells what changed, and
``database/`` is the file. ``replica.py`` makes the record a copy of that of a
fleet, which ``documents.py`` turns into text. ``values/`` is pure. It may import ``tree/``,
``plan/``, ``limits/``, ``ownership/`` and ``virt/``.
"""
