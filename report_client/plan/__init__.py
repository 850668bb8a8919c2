# SPDX-License-Identifier: Apache-2.0
"""Plans as they are printed, followed and recorded.

Pure. ``render.py`` prints plans, and ``progress.py`` follows a plan while
``apply/`` sends it. From the agent it may import ``tree/``, ``plan/`` and
errors.
"""
