# SPDX-License-Identifier: Apache-2.0
"""The facts of a Linux host: named values, each with its source.

Begin with ``fact.py``, the values. A value that cannot be read is unknown,
never false. The folder may import ``drivers/libvirtd/`` and
``drivers/host_files.py``.
"""
