# SPDX-License-Identifier: Apache-2.0
"""The rules of the contract, by subject.

Begin with ``catalogue.py``, which has the number and title of each. Every
other module has the checks of one subject: functions of a ``Trial``.
"""
