# SPDX-License-Identifier: Apache-2.0
"""The history in the state database: what changed, when, by whom and why.

Begin with ``history.py``. ``differences.py`` finds what other writers changed
between two readings, ``annotations.py`` adds what the database knows about an
entry, ``rows.py`` makes rows of entries, ``rotation.py`` drops the oldest, and
``own_changes.py`` tells which command changed a name.
The history only observes: if it cannot be written, everything else goes on. It
may import ``database/``, ``limits/``, ``plan/`` and ``tree/``.
"""
