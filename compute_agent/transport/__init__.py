# SPDX-License-Identifier: Apache-2.0
"""Protect HTTP sessions against servers that are slow, broken or hostile.

Begin with ``protection.py``, which changes a session of keystoneauth: it
follows no redirect (``redirects.py``), each answer has a deadline
(``deadline.py``) and a largest size (``bounded_adapter.py``), and passwords
leave the URLs (``url_credentials.py``). ``keystone_options.py`` registers the
options of such a session, and ``session_options.py`` checks them. ``clouds.py``
finds its account (``account.py``), and ``no_server.py``, ``certificates.py``
and ``keystone_answers.py`` explain failures. ``watched.py`` tells of each
request. The options (``conf/``), the wiring of placement, the report client and
the Ironic driver use it. It may import ``errors``, ``error_text`` and
``watchers`` only.
"""
