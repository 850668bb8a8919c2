# SPDX-License-Identifier: Apache-2.0
"""The traits of the processors and of the architecture.

Begin with ``cpu_traits.py``: the tables of HW_CPU_* traits and the words of
each source for them; ``arch_traits.py`` has those of HW_ARCH_*.
``processors.py`` reads the text of /proc/cpuinfo and ``pycpuinfo.py`` runs
py-cpuinfo. ``findings.py`` decides each trait, with its reason. All but
``pycpuinfo.py`` are pure. The folder imports nothing of the driver's other
folders.
"""
