# SPDX-License-Identifier: Apache-2.0
"""Placement's last known content, for each placement service.

Begin with ``snapshot.py``. ``history.py`` has digests of earlier contents, to
recognize a placement that was restored, and ``lost_roots.py`` the roots that
other writers deleted. If all of it is lost, the agent reads placement again.
The folder may import ``database/``, and knows nothing of the record.
"""
