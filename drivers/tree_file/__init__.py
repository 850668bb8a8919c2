# SPDX-License-Identifier: Apache-2.0
"""Nodes and their trees in a document, as values, and the edits that follow.

Pure: no I/O, configuration, logging or clock. Begin with ``tree_file.py``, the
shape and the content of the document; ``describe.py`` edits a provider tree, and
``moving.py`` moves allocations to the providers it then has. The document of the driver ``fake`` is a file, and that of ``exec`` the answer of a
program.
"""
