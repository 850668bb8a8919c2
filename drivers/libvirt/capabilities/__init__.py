# SPDX-License-Identifier: Apache-2.0
"""The features that guests of this host can have, from libvirt's capabilities.

Begin with ``guests.py``, which asks libvirt, and keeps the answers.
``compute_findings.py`` decides the COMPUTE_* traits by the tables in
``nova_traits.py``. ``host_capabilities.py`` and ``domain_capabilities.py`` have
the values of libvirt's XML, ``guest_options.py`` and ``conf.py`` nova's
options. All but ``guests.py`` and ``emulators.py`` are pure. The folder imports
``cpu/`` and ``drivers/libvirtd/`` and nothing else of the driver.
"""
