# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: describes one hypervisor host.

Begin with ``driver.py``, which joins the parts. ``libvirtd/`` is the seam to
libvirt, ``host.py`` reads the host's files and ``sources.py`` joins all that
is read. ``cpu/`` decides the traits of the processors; ``capabilities/`` asks
what guests can have. ``inventory`` and ``unsupported`` (the options of nova's
that it cannot follow) are pure. It may import the modules of ``compute_agent`` that ``docs/drivers.md`` lists; only
``driver.py`` and ``sources.py`` import the folders.
"""
