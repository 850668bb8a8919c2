# SPDX-License-Identifier: Apache-2.0
"""Send a plan's operations in order, and record the outcome of each.

Begin with ``executor.py``. It may import ``plan/``, ``observe/`` and
``http/``; from the agent ``tree/``, ``plan/`` and errors.
"""
