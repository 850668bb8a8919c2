# SPDX-License-Identifier: Apache-2.0
"""The command ``history``: what changed, when, by whom and why.

Begin with ``history.py``. ``moments.py`` reads the times of its options,
``history_view.py`` makes rows of entries. The folder reads a copy of the state
database and asks neither placement nor the driver.
"""
