# SPDX-License-Identifier: Apache-2.0
"""The values that all other folders work on.

Here are providers, inventories, names, assertions, and the tree that drivers
edit. Begin with ``provider.py`` (one provider as placement shows it) and
``provider_tree.py`` (the tree). ``host_inventory.py`` makes a host's resource
classes, ``inventory.py`` resolves their ratios. Pure; it may import only
``errors.py`` and ``error_text.py``.
"""
