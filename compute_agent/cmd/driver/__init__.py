# SPDX-License-Identifier: Apache-2.0
"""The commands ``driver …``, for people who use or write drivers.

Begin with ``driver_list.py``, which lists the installed drivers.
``driver_new.py`` writes a package from the files in ``template/``.
"""
