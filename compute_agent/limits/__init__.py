# SPDX-License-Identifier: Apache-2.0
"""The reasons why a planned change is not sent now.

Begin with ``judgement.py``: large removals wait for a person's approval
(``approval.py``); it counts with ``blast_radius.py``. ``backoff.py`` delays
operations that placement refused, and ``contention.py`` finds changes that
another writer, or the driver itself, keeps undoing. ``effects.py`` counts what
the operations of a plan change and remove. Pure, except for the clock that the
backoff is given. It may import ``fleet/``, ``tree/`` and ``plan/``
only.
"""
