# SPDX-License-Identifier: Apache-2.0
"""The history in the state database: what changed, when, by whom and why.

Begin with ``history.py``. ``annotations.py`` adds what the database knows
about an entry, and ``rotation.py`` drops the oldest entries. The history only
observes: if it cannot be written, everything else goes on. It may import
``database/``, ``values/``, ``limits/``, ``plan/`` and ``tree/``.
"""
