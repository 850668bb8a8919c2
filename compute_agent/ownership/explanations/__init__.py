# SPDX-License-Identifier: Apache-2.0
"""What people are told about the record and about a decision.

Begin with ``explain.py``, which tells why a trait is there or goes.
``record_rows.py`` has the record as rows, and ``older_record.py`` recognizes a
record that is older than placement. Pure; imports as its parent folder.
"""
