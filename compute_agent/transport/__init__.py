# SPDX-License-Identifier: Apache-2.0
"""Protect HTTP sessions against servers that are slow, broken or hostile.

Begin with ``protection.py``, which changes a session of keystoneauth: it
follows no redirect (``redirects.py``), each answer has a deadline
(``deadline.py``) and a largest size (``bounded_adapter.py``), and passwords
leave the URLs (``url_credentials.py``). ``session_options.py`` checks the
options of such a session. ``clouds.py`` finds its account (``account.py``).
``watched.py`` tells of each request. The wiring of placement and the Ironic
driver use it. It may import ``errors``, ``error_text`` and ``watchers`` only.
"""
