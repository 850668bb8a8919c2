# SPDX-License-Identifier: Apache-2.0
"""This agent's ProviderTree beside nova-compute's, in memory: make bench-tree.

``ours.py`` and ``nova_peer.py`` do the same work in a process and an
environment of their own, and ``work.py`` times it. Begin with ``__main__.py``.
"""
