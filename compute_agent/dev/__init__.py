# SPDX-License-Identifier: Apache-2.0
"""The embedded placement: a real placement service in this process.

Begin with ``embedded_placement.py``. It is for development, demos and tests,
and needs the ``embedded`` extra. ``wsgi_thread.py`` serves it, and the pages of
``cmd/explore/``. Of the agent, the folder imports ``state/database/lock.py`` and
the modules beside the folders; only ``cmd/`` and ``testing/`` import it.
"""
