# SPDX-License-Identifier: Apache-2.0
"""The features that guests of this host can have, from libvirt's capabilities.

Pure: no I/O, configuration, logging or clock. Begin with ``facts.py``, the facts
that ``reading/guests.py`` collects. ``compute_findings.py`` decides the
COMPUTE_* traits by the tables in ``nova_traits.py`` and by ``votes.py``;
``host_capabilities.py`` has the values of libvirt's XML. The folder imports
``cpu/`` and ``drivers/libvirtd/`` and nothing else of the driver.
"""
