# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt through libvirt-python, which may be missing.

Begin with ``connection.py``, which answers the questions of
``libvirtd/hypervisor.py``. ``translation.py`` translates values, documents and
errors, ``events.py`` hears that the host changed, and ``options.py`` says which
libvirt is asked. The drivers of hosts share this folder; it imports no driver.
"""
