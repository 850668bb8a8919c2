# SPDX-License-Identifier: Apache-2.0
"""The values everything else works on: providers, inventories, names, the tree.

Begin with ``provider_tree.py`` (what drivers edit) and ``provider.py`` (one
provider as placement shows it). Pure; it may import the errors only.
"""
