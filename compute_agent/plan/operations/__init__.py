# SPDX-License-Identifier: Apache-2.0
"""The operations that a plan consists of, as values.

Begin with ``write.py``, the methods that every operation has, and
``operations.py``, the kinds that exist. ``contents.py`` has those that replace
or move the contents of a provider. Pure; it may import ``tree/`` and ``plan/``
only.
"""
