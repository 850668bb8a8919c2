# SPDX-License-Identifier: Apache-2.0
"""Reads the facts of a Linux host: a module for each family of facts.

Nothing here is pure. Begin with ``reader.py``, which reads all families, and
``family.py``, which collects the facts of one. ``block.py``, ``net.py``,
``pci.py`` and ``usb.py`` read devices; ``libvirt.py`` asks libvirt, and
``local.py`` reads the files of operators' scripts. A value that cannot be read
is unknown, never false.
"""
