# SPDX-License-Identifier: Apache-2.0
"""The judgement of ``compute-agent audit``: findings about a whole cloud.

Pure. Begin with ``audit.py``, which has all checks in order. ``peers.py``
compares hosts, and ``shapes.py`` looks at the trees. ``cloud.py`` has
the values that were read of placement, nova, Ironic and this agent's state, and
``finding.py`` the results, with the changes that mend some of them. A check
treats a service that was not asked, or not completely, as unknown. It may
import ``tree/`` only. ``cmd/audit/`` reads and writes.
"""
