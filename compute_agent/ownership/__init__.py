# SPDX-License-Identifier: Apache-2.0
"""Ownership: decide which names and providers the agent may remove.

Begin with ``resolve.py``: from assertions, record and policy it makes the
wanted providers. ``claims.py`` decides name by name, and gives the cause of
each removal. ``nova_traits.py`` is the table of the traits that nova decides.
``explanations/`` has what people are told about it. Pure; it may
import ``tree/``, ``plan/`` and ``limits/``.
"""
