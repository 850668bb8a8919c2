# SPDX-License-Identifier: Apache-2.0
"""Sending a plan's operations in order, and recording what became of them.

Begin with ``executor.py``. It may import ``plan/``, ``observe/store.py``,
``http/`` and ``operations/``.
"""
