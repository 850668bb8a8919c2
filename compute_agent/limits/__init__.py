# SPDX-License-Identifier: Apache-2.0
"""When a planned change is not sent now: too much, refused, or contended.

Begin with ``blast_radius.py``. Pure; it may import ``tree/`` only.
"""
