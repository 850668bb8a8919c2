# SPDX-License-Identifier: Apache-2.0
"""The lines that tell people about the record and about a decision.

Begin with ``explain.py``, which tells why a trait is there or goes.
``notes.py`` has the notes about names that stay or come back, and about a
record that is older than placement. ``record_rows.py`` has the record as rows,
and ``drift.py`` compares placement with what was agreed. Pure; imports as its
parent folder.
"""
