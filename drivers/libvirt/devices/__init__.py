# SPDX-License-Identifier: Apache-2.0
"""The child providers of a host: devices that guests can be given.

Pure: no I/O, configuration, logging or clock. ``reading/children.py`` asks libvirt
and calls these: mediated devices (``mdev``), the entries of nova.conf for PCI
devices (``pci_specs``) and the contexts of encrypted guests
(``memory_encryption``). ``node_devices`` holds libvirt's devices as typed values,
``child`` a child provider, ``names`` the names that nova parses back,
``traits`` the traits, and ``placing`` edits the provider tree. It may import
``drivers/libvirtd/`` and the modules of ``compute_agent`` that
``docs/drivers.md`` lists.
"""
