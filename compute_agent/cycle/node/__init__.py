# SPDX-License-Identifier: Apache-2.0
"""The cycle of one node: observe, plan and apply, and again after a conflict.

Begin with ``node_cycle.py``. ``setbacks.py`` keeps the refused operations and
counts the conflicts, ``node_result.py`` is the result. Of ``cycle/``, the folder
imports ``planning/`` and ``report_client.py``.
"""
