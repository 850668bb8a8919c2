# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: describes one hypervisor host without libvirtd.

Begin with ``driver.py``, which joins the parts. These are pure: ``cpu_traits``
and ``arch_traits`` (the tables), ``processors`` (the text of /proc/cpuinfo),
``findings`` (the traits that follow, each with its reason), ``inventory`` and
``unsupported`` (the options of nova's that it cannot follow).
``host`` reads files and ``pycpuinfo`` runs py-cpuinfo. It may import the
modules of ``compute_agent`` that ``docs/drivers.md`` lists.
"""
