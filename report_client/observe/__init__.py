# SPDX-License-Identifier: Apache-2.0
"""Reading placement: one snapshot per node, with as few requests as possible.

Begin with ``observer.py``. ``list_strategy.py`` chooses the list requests,
``readings.py`` decides what is read again, ``verify.py`` reads anew what is
about to be written. It may import ``http/`` and ``operations/``.
"""
