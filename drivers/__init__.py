# SPDX-License-Identifier: Apache-2.0
"""The drivers that ship with the agent, a folder each.

Begin with ``fake/driver.py``, the smallest. No module of the agent imports
them; the loader finds them through their entry points (``setup.cfg``). A
driver may import the modules of ``compute_agent`` that ``docs/drivers.md``
lists, and no other driver. The drivers of hosts share ``libvirtd/``, the seam to
libvirt, ``libvirt_python/``, which asks libvirt, ``host_files.py``, which reads
files below a root folder, and ``one_host.py``, the base class of both. ``fake`` and
``exec`` share ``tree_file/``, trees in a document.
"""
