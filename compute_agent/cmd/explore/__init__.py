# SPDX-License-Identifier: Apache-2.0
"""The command ``explore``: pages that show what placement has, and why.

Begin with ``explore.py``. ``values/`` is pure: ``values/gate.py`` decides who may
ask. ``web_server.py`` answers HTTP, and ``site.py`` knows the pages. The
modules ``*_page.py`` collect the answers that the commands print with
``-f json``; the templates show them and compute nothing. ``daemon_page.py`` is
the daemon's page, from its own nodes. Only this folder imports Jinja2 and, for the command, waitress; both
come with the extra ``explore``.
"""
