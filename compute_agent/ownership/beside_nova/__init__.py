# SPDX-License-Identifier: Apache-2.0
"""A node that nova-compute has, too: the part that is left to this agent.

Begin with ``companion.py``, for a node that nova-compute reports: it keeps the
sources' assertions away from everything that is nova's. ``reporter.py`` does
so for a node on which nova-compute only starts the guests. ``given_up.py`` is
the change from owner to companion. Pure; it may import ``tree/``, and of
``ownership/`` the record, ``nova_traits.py`` and ``undeletable.py``.
"""
