# SPDX-License-Identifier: Apache-2.0
"""The seam to libvirt: raw answers of one hypervisor.

Begin with ``hypervisor.py``, the Protocol that the drivers of hosts see.
``options.py`` says which libvirt, ``connection.py`` asks it through
libvirt-python; ``recording.py`` keeps the answers as files. ``xml.py``
parses the answers, and ``guests.py`` tells which of the host's things a guest
has. The folder imports no driver.
"""
