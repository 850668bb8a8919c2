# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: describes one hypervisor host.

Begin with ``driver.py``, which joins the parts. ``sources.py`` joins all that
is read: libvirt's answers (``drivers/libvirtd/``), files (``drivers/host_files``)
and the output of programs (``command.py``). ``root_traits.py`` asks
``cpu/`` and ``capabilities/`` for the host's traits; ``inventory/`` decides its
amounts, ``devices/`` the child providers and ``reshapes/`` the allocations that
move with them. ``conf.py`` joins nova's options.
It may import the modules of ``compute_agent`` that ``docs/drivers.md`` lists;
only modules of this folder import the folders.
"""
