# SPDX-License-Identifier: Apache-2.0
"""The identity of this host: its provider in placement, and corrections.

Begin with ``identity.py``: the host's uuid in ``compute_id``, and the check of a
node's name and uuid against placement. ``host_name.py`` decides between the
name in ``[DEFAULT] host`` and the hypervisor's. ``host_adoption.py`` gives a
reinstalled host its uuid back, ``rename.py`` renames a provider. It may import
``tree/``, ``ownership/`` and ``state/``.
"""
