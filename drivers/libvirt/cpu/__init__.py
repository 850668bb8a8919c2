# SPDX-License-Identifier: Apache-2.0
"""The traits of the processors and of the architecture.

Pure: no I/O, configuration, logging or clock. Begin with ``cpu_traits.py``: the
tables of HW_CPU_* and HW_ARCH_* traits and the words of each source for them.
``guest_cpu.py`` has the features that guests get, and ``processors.py`` reads
the text of /proc/cpuinfo. ``findings.py`` decides each trait by all of these,
with its reason. The folder imports ``drivers/libvirtd/`` and nothing else of the
driver.
"""
