# SPDX-License-Identifier: Apache-2.0
"""Read placement: one snapshot per node, with as few requests as possible.

Begin with ``observer.py``. ``list_strategy.py`` chooses the list requests,
``cached_reader.py`` decides which providers are read again, ``sharing.py``
finds sharing providers, ``whole_homes.py`` the nodes with all their recorded
providers in their own trees, and ``verify.py`` reads again the parts that a
plan would write.
``name_cache.py`` keeps the names that placement knows. It may import ``http/``;
from the agent ``tree/``, ``plan/`` and errors.
"""
