# SPDX-License-Identifier: Apache-2.0
"""Provider-config files: operators' additions, in nova's provider.yaml format.

Begin with ``files.py``, which keeps the set of files in force. ``values/`` is
pure: it parses a file and merges its entries into a tree. It may import
``tree/``, ``ownership/`` and ``virt/``.
"""
