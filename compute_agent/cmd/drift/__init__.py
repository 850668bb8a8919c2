# SPDX-License-Identifier: Apache-2.0
"""The command ``drift``: placement compared with what was agreed.

Begin with ``drift.py``. ``reading.py`` reads placement and the state database
at the same point, ``drift_view.py`` prints. The folder asks no driver and
writes nothing; ``ownership/explanations/drift.py`` decides.
"""
