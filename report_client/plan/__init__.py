# SPDX-License-Identifier: Apache-2.0
"""Turn two snapshots into operations in a safe order, and print plans.

Begin with ``plan_maker.py``, then ``diff.py``. ``render.py`` prints plans, and
``progress.py`` follows a plan while ``apply/`` sends it. It may import ``observe/``,
``http/``; from the agent ``tree/``, ``plan/`` and errors.
"""
