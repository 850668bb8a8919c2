# SPDX-License-Identifier: Apache-2.0
"""The facts of a Linux host as values, each with its source.

Pure: no I/O, configuration, logging or clock. Begin with ``fact.py``, the values;
``catalogue.py`` lists the facts. ``parsing.py`` gives the short texts of the
kernel their meaning, ``local_file.py`` those of operators' scripts.
``rows.py`` turns facts into rows and back. ``reading/`` makes the facts.
"""
