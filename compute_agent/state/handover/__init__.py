# SPDX-License-Identifier: Apache-2.0
"""The record of a whole node, and the form in which agents hand it over.

Begin with ``handover.py``, which exports, imports, shows and forgets records.
``node_record.py`` is the value and its data form, ``schema.py`` the JSON schema
of that form; both are pure. The folder may import every part of ``state/``.
"""
