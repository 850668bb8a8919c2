# SPDX-License-Identifier: Apache-2.0
"""It sends a plan's operations in order and records what became of them.

Begin with ``executor.py``. It may import ``plan/``, ``observe/store.py``,
``http/`` and ``operations/``.
"""
