# SPDX-License-Identifier: Apache-2.0
"""The record of one node in the form that agents hand over.

Begin with ``node_record.py``: the value, and its data form. ``schema.py`` is
the JSON schema of that form. The folder is pure and imports no other folder of
``state/``; ``nodes.py`` exports and imports the record.
"""
