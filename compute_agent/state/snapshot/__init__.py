# SPDX-License-Identifier: Apache-2.0
"""Placement's last known content, for each placement service.

Begin with ``snapshot.py``, the providers as last read; ``site.py`` has the
service's names and size. ``contents.py`` packs a provider's contents,
``earlier_contents.py`` has digests of earlier ones, to recognize a placement that was
restored, and ``lost_roots.py`` the roots that other writers deleted. If all of it is lost, the agent reads placement again.
The folder may import ``database/``, and knows nothing of the record.
"""
