# SPDX-License-Identifier: Apache-2.0
"""Ironic's nodes as values, and what they become in placement.

Pure: no I/O, configuration, logging or clock. Begin with ``node.py``, one node
with its traits and inventory, and ``describe.py``, which edits the tree;
``evidence.py`` tells the reasons. ``answers.py`` checks what Ironic sent;
``reading.py`` has all nodes of it, and ``watermark.py`` how far their changes were read.
``staging.py`` and ``instance_info.py`` serve ``compute-agent node``.
"""
