# SPDX-License-Identifier: Apache-2.0
"""The entries of provider-config files, from a file to a node's tree.

Pure: no I/O, configuration, logging or clock. ``parse.py`` has the format and
turns a file into the values of ``entry.py``, and ``merge.py`` asserts these
onto a node's tree.
"""
