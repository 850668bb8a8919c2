# SPDX-License-Identifier: Apache-2.0
"""The reasons why a planned change is not sent now.

Begin with ``blast_radius.py``: large removals wait for confirmation.
``backoff.py`` delays operations that placement refused, and ``contention.py``
leaves out changes that another writer keeps undoing. ``alternation.py`` finds
changes that the driver itself keeps undoing. ``approval.py`` is the yes of a
person to a set of changes. Pure, except for the clock that the backoff is
given. It may import ``tree/`` only.
"""
