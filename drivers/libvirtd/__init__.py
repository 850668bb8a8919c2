# SPDX-License-Identifier: Apache-2.0
"""The seam to libvirt: its raw answers, and what they mean.

Pure: no I/O, configuration, logging or clock. Begin with ``hypervisor.py``, the
Protocol that the drivers of hosts see. ``xml.py`` parses the answers,
``guests.py`` tells which of the host's things a guest has, and ``cpusets.py``
reads lists of processors. ``libvirt_python/`` asks libvirt. The folder imports no
driver.
"""
