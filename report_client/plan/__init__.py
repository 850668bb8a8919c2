# SPDX-License-Identifier: Apache-2.0
"""From two snapshots to operations in a safe order, and how a plan is printed.

Begin with ``plan_maker.py``, then ``diff.py``. It may import ``observe/``,
``http/`` and ``operations/``.
"""
