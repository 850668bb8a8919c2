# SPDX-License-Identifier: Apache-2.0
"""Protect HTTP sessions against servers that are slow, broken or hostile.

Begin with ``protection.py``, which changes a session of keystoneauth: it
follows no redirect, each answer has a deadline (``deadline.py``) and a largest
size (``bounded_adapter.py``), and passwords leave the URLs
(``url_credentials.py``). ``session_options.py`` registers and checks the
options of such a session, ``clouds.py`` finds its account (``account.py``), and
``failures.py`` explains failures. ``environment.py`` reads proxies from the
environment, once. ``catalog.py`` finds a service that moved.
``rate_limit.py`` delays requests, and
``watched.py`` tells of each. The options (``conf/``), the wiring of placement,
the report client and the Ironic driver use it. It may import ``errors``,
``error_text``, ``watchers`` and the readers of YAML files only.
"""
