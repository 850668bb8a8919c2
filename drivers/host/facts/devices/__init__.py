# SPDX-License-Identifier: Apache-2.0
"""The facts of devices: a module for each family that has devices.

Begin with ``pci.py``. Each module has ``read``, which returns the family's
devices, or an unknown fact if they cannot be listed. ``ethtool.py`` asks the
kernel for the offloads of an interface, which no file tells. The folder may
import the modules of ``facts`` and ``drivers/host_files.py``.
"""
