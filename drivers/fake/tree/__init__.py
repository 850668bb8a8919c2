# SPDX-License-Identifier: Apache-2.0
"""The file of the fake driver as values, and the edits that follow from it.

Pure: no I/O, configuration, logging or clock. Begin with ``tree_file.py``, the
file's shape and content; ``describe.py`` edits the tree, and ``moving.py``
moves allocations.
"""
