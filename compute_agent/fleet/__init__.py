# SPDX-License-Identifier: Apache-2.0
"""Several agents for one fleet: who of them reports, and what they share.

Begin with ``values/share.py``: a share is what one agent reports. ``values/`` is
pure. ``membership.py`` is an agent's part in a share: ``values/roles.py`` decides
when it takes the lease and gives it up, ``fence.py`` for how long it may write.
``lease.py`` says which agent reports now, and ``shared_record.py`` has its record,
both in a database that all agents of the share use (``database/``). The folder
knows no drivers, no placement and no state.
"""
