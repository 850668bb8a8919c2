# SPDX-License-Identifier: Apache-2.0
"""The identity of this host: its provider in placement, and corrections.

Begin with ``identity.py``: the uuids of the nodes, and the check of a node's name
and uuid against placement. ``compute_id.py`` keeps the host's uuid in a file.
``host_name.py`` decides between the
name in ``[DEFAULT] host`` and the hypervisor's. ``host_adoption.py`` gives a
reinstalled host its uuid back, ``rename.py`` renames a provider. It may import
``tree/``, ``ownership/`` and ``state/``.
"""
