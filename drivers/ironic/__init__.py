# SPDX-License-Identifier: Apache-2.0
"""The Ironic driver: describes the bare-metal nodes of one Ironic.

Begin with ``driver.py``. ``reader.py`` decides what is read of Ironic and when,
``client/`` speaks with it, and ``requested.py`` serves ``compute-agent node``.
``nodes/``, the nodes as values and what they become in placement, is pure. It may import the modules of ``compute_agent`` that
``docs/drivers.md`` lists.
"""
