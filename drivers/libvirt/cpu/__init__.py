# SPDX-License-Identifier: Apache-2.0
"""The traits of the processors and of the architecture.

Begin with ``cpu_traits.py``: the tables of HW_CPU_* traits and the words of
each source for them; ``arch_traits.py`` has those of HW_ARCH_*.
``guest_source.py`` asks libvirt which features guests get (``guest_cpu.py``,
``cpu_xml.py``). ``processors.py`` reads the text of /proc/cpuinfo and
``pycpuinfo.py`` runs py-cpuinfo. ``findings.py`` decides each trait by all of
these (``facts.py``), with its reason. All but ``guest_source.py`` and
``pycpuinfo.py`` are pure. The folder imports ``drivers/libvirtd/`` and nothing
else of the driver.
"""
