# SPDX-License-Identifier: Apache-2.0
"""Read placement: one snapshot per node, with as few requests as possible.

Begin with ``observer.py``. ``list_strategy.py`` chooses the list requests,
``cached_reader.py`` decides which providers are read again, ``sharing.py``
finds sharing providers, and ``verify.py`` reads again the parts that a plan
would write. It may import
``http/``; from the agent ``tree/``, ``plan/`` and errors.
"""
