# SPDX-License-Identifier: Apache-2.0
"""The moves of allocations that a host's options make necessary.

Begin with ``reshapes.py``, which decides what moves and what waits. ``moves``
turns VCPU into PCPU, ``child_moves`` goes from the host to its devices, and
``layouts`` changes between the host and its NUMA nodes. These three are pure.
The folder may import ``drivers/libvirtd/`` and, from the driver, ``devices`` and
``inventory``.
"""
