# SPDX-License-Identifier: Apache-2.0
"""What guests of this host can have, from libvirt's capabilities.

Begin with ``guests.py``, which asks libvirt. ``host_capabilities.py`` has the
values of host capabilities and says about which kinds of guests libvirt is
asked; ``guest_options.py`` has nova's options. The folder imports ``cpu/`` and
``libvirtd/`` and nothing else of the driver.
"""
