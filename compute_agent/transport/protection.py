# SPDX-License-Identifier: Apache-2.0
"""Protect a session of keystoneauth; see the folder's docstring.

The requests of keystoneauth's authentication plugins and of its discovery pass
through the same session, so they are protected too.
"""

import contextlib

from keystoneauth1 import adapter

from . import redirects, retry_after, url_credentials

_URLS = ('auth_url', 'endpoint')

#: For the argument ``rate_semaphore`` of each request. keystoneauth's own one
#: waits, even without a limit, until the wall clock shows a time at which the
#: adapter was there. So a clock that is set back by hours stops all requests
#: for hours. The agent has a rate limit of its own.
NO_RATE_LIMIT = contextlib.nullcontext()


def protect(made: adapter.Adapter, section: str) -> None:
    """Make an adapter follow no redirect, wait for no server, show no secret.

    :param made: an adapter with a session of its own
    :param section: the configuration section with the addresses, for messages
    """
    session = made.session
    session.redirect = False
    opened = session.session
    opened.hooks['response'] += [redirects.refuse(section), retry_after.bound]
    kept = url_credentials.UrlCredentials()
    kept.take_all(made, {'endpoint_override': made.endpoint_override})
    for plugin in (made.auth, session.auth):
        kept.take_all(plugin, {n: getattr(plugin, n, None) for n in _URLS})
    if kept:
        opened.auth = kept
