# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver: what one hypervisor host has, seen without libvirtd.

``driver.py`` joins the parts. Pure: ``cpu_traits`` and ``arch_traits`` (the
tables), ``processors`` (the text of /proc/cpuinfo), ``findings`` (which traits
follow, and why), ``inventory``. I/O: ``host`` (files), ``pycpuinfo``.
"""
