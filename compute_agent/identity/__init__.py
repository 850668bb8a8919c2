# SPDX-License-Identifier: Apache-2.0
"""The identity of this host: its provider in placement, and corrections.

Begin with ``identity.py``: the uuids and names of the nodes, and the check of a
node's name and uuid against placement. ``compute_id.py`` keeps the host's uuid
in a file. ``host_adoption.py`` gives a reinstalled host its uuid back.
``nova_root.py`` finds the root that nova-compute made, and ``nova_compute.py``
the signs that nova-compute reports this host. It may import ``tree/``,
``ownership/`` and ``state/``.
"""
