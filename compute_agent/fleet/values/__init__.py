# SPDX-License-Identifier: Apache-2.0
"""Names of shares, marks of agents, and the steps of a lease.

Pure: no I/O, configuration, logging or clock. Begin with ``share.py``;
``mark.py`` is an agent's signature in placement, and ``roles.py`` decides what
an agent does next about its lease. The folder imports ``tree/`` and errors.
"""
