# SPDX-License-Identifier: Apache-2.0
"""The facts of a Linux host: named values, each with its source.

Begin with ``reader.py``, which reads all; ``fact.py`` has the values and
``catalogue.py`` lists the facts. A module for each family reads it
(``devices/`` those that have devices), with ``family.py`` and ``parsing.py``.
``local.py`` reads the files of operators' scripts. ``rows.py`` turns facts into
rows and back. A value that cannot be read is unknown, never false. The folder
may import ``drivers/libvirtd/`` and ``drivers/host_files.py``.
"""
