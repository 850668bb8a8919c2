# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: describes one hypervisor host.

Begin with ``driver.py``, which joins the parts. ``libvirtd/`` is the seam to
libvirt, ``host.py`` reads the host's files, ``command.py`` runs its programs and
``sources.py`` joins all that is read. ``cpu/`` decides the traits of the
processors, ``inventory/`` the amounts of the host; ``capabilities/`` asks what
guests can have. ``unsupported`` has the options of nova's that it cannot follow.
It may import the modules of ``compute_agent`` that ``docs/drivers.md`` lists;
only ``driver.py`` and ``sources.py`` import the folders.
"""
