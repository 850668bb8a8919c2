# SPDX-License-Identifier: Apache-2.0
"""The command ``plan``, and the views and options that other commands share.

Begin with ``plan.py``. ``plan_view.py`` prints plans, ``result_view.py`` the
results of a cycle that wrote, ``pruning.py`` has the
options ``--prune`` and ``--node``, ``masks.py`` finds masks without a match.
``report_client/plan/`` makes the operations and renders each.
"""
