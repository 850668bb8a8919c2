# SPDX-License-Identifier: Apache-2.0
"""Nodes that left their driver's list, and the end of their providers.

Begin with ``departed_nodes.py``, which knows the nodes that are missing.
``questions.py`` asks the driver about each, ``batches.py`` tells which left
together, and ``departed_cycles.py`` runs the cycles of those that are
gone. ``other_shares.py`` moves the records of those that another share lists. Of ``cycle/``, the folder imports ``node/`` and ``node_list.py``.
"""
