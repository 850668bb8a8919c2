# SPDX-License-Identifier: Apache-2.0
"""The lines that tell people about the record and about a decision.

Begin with ``explain.py``, which tells why a trait is there or goes.
``notes.py`` has the notes about names that stay or come back,
``record_rows.py`` the record as rows, ``drift.py`` compares placement with what
was agreed, and ``older_record.py`` recognizes a record that is older than
placement. Pure; imports as its parent folder.
"""
