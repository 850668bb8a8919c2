# SPDX-License-Identifier: Apache-2.0
"""The Ironic driver: describes the bare-metal nodes of one Ironic.

Begin with ``driver.py``, then ``describe.py`` (edits the tree) and ``node.py``
(one node as a value). ``client/`` speaks with Ironic. ``requested``, ``staging``
and ``instance_info`` serve ``compute-agent node``. It may import the modules
of ``compute_agent`` that ``docs/drivers.md`` lists.
"""
