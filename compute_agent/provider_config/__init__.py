# SPDX-License-Identifier: Apache-2.0
"""Provider-config files: operators' additions, in nova's provider.yaml format.

Begin with ``files.py``, which keeps the set of files in force. ``schema.py``
is the format, ``parse.py`` turns a file into the values of ``entries.py``, and
``merge.py`` asserts these onto a node's tree. It may import ``tree/``,
``ownership/`` and ``virt/``.
"""
