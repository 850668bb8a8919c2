# SPDX-License-Identifier: Apache-2.0
"""The moves of allocations that a host's options make necessary.

Pure: no I/O, configuration, logging or clock. ``reading/reshapes.py`` decides what
moves and what waits. ``moves`` turns VCPU into PCPU, ``child_moves`` goes from
the host to its devices, and ``layouts`` changes between the host and its NUMA
nodes. The folder may import ``drivers/libvirtd/`` and, from the driver,
``devices`` and ``inventory``.
"""
