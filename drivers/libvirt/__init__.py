# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: describes one hypervisor host.

Begin with ``driver.py``, which joins the parts. ``reading/`` asks libvirt, the
kernel's files and programs; ``options/`` has nova's options, which ``conf.py``
joins, and ``recording/`` records a host. These are not pure. The decisions are,
and each subject has a pure folder: ``cpu/`` and ``capabilities/`` decide the
host's traits, ``inventory/`` its amounts, ``devices/`` the child providers and
``reshapes/`` the allocations that move with them.
It may import the modules of ``compute_agent`` that ``docs/drivers.md`` lists;
only modules of this folder import the folders.
"""
