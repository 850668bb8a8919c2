# SPDX-License-Identifier: Apache-2.0
"""Operators' files in nova's provider.yaml format.

Begin with ``files.py`` (which set of files is in force), then ``merge.py`` (how
a file's entries become assertions). It may import ``tree/``, ``ownership/`` and
``virt/``.
"""
