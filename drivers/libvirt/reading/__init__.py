# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt, the kernel's files and programs what a description needs.

Nothing here is pure. ``sources.py`` joins all that is read. ``root_traits.py``
reads the traits of the host's own provider, with ``guests.py``,
``guest_source.py``, ``pycpuinfo.py``, ``disk_kind.py`` and ``remote_ports.py``.
``root_inventory.py`` reads its amounts, ``children.py`` the child providers,
with ``pci.py``, ``health.py`` and ``nic.py``, and ``reshapes.py`` the guests
whose allocations move. The decisions are in the pure folders beside this one.
"""
