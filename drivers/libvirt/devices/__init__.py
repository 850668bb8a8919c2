# SPDX-License-Identifier: Apache-2.0
"""The child providers of a host: devices that guests can be given.

Begin with ``children.py``, which asks libvirt and joins the parts: mediated
devices (``mdev``, ``mdev_types``), PCI devices (``pci``, ``pci_specs``) and
the contexts of encrypted guests (``memory_encryption``). ``node_devices`` holds libvirt's
devices as typed values, ``names`` the names that nova parses back, ``nic`` and
``health`` what a device's own files tell, and ``placing`` edits the provider
tree. It may import ``libvirtd/`` and ``host_files`` of ``drivers``, and the
modules of ``compute_agent`` that ``docs/drivers.md`` lists.
"""
