# SPDX-License-Identifier: Apache-2.0
"""The writes a plan is made of, as values.

Begin with ``operations.py``. Pure; it may import values of the agent only.
"""
