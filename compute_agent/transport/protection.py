# SPDX-License-Identifier: Apache-2.0
"""Protect a session of keystoneauth against redirects and long waits.

keystoneauth, its authentication plugins and ironicclient follow redirects to
any host and believe the answer. keystoneauth sleeps for the whole Retry-After
of an answer if it may repeat the request, and fails for a negative number;
ironicclient fails with a TypeError for any Retry-After of a status other than
413. keystoneauth waits for ever if keystone answers its discovery with 401. The
response hooks made here see each answer of a session before they do.
The requests of authentication plugins and of discovery pass through the same
session, so they are protected too.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import requests
from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa_exceptions

from .. import error_text, errors
from . import url_credentials

LONGEST_WAIT = 60  # seconds that a server may ask for

_URLS = ('auth_url', 'endpoint')
_RETRY_AFTER = 'Retry-After'
_TOKEN = 'X-Auth-Token'  # noqa: S105 (a header)

#: For the argument ``rate_semaphore`` of each request. keystoneauth's own one
#: waits, even without a limit, until the wall clock shows a time at which the
#: adapter was there. So a clock that is set back by hours stops all requests
#: for hours. The agent has a rate limit of its own.
NO_RATE_LIMIT = contextlib.nullcontext()

#: Statuses that clients follow. 300 is keystone's list of its versions.
REDIRECTS = frozenset({301, 302, 303, 305, 307, 308})


def protect(made: adapter.Adapter, section: str) -> None:
    """Make an adapter follow no redirect, wait for no server, show no secret.

    :param made: an adapter that shares its session with no other
    :param section: the configuration section with the addresses, for messages
    """
    session = made.session
    session.redirect = False
    opened = session.session
    opened.hooks['response'] += [refuse_redirects(section), bound_wait]
    kept = url_credentials.UrlCredentials()
    kept.take_all(made, {'endpoint_override': made.endpoint_override})
    for plugin in (made.auth, session.auth):
        kept.take_all(plugin, {n: getattr(plugin, n, None) for n in _URLS})
        if auth_url := getattr(plugin, 'auth_url', None):
            opened.hooks['response'].append(end_discovery(auth_url))
    if kept:
        opened.auth = kept


class Redirected(errors.Unavailable):
    """A server sent the request to another address; nothing was sent there."""


def redirected(
    asked: str, status: int, location: str, section: str
) -> Redirected:
    """Return the error about a redirect.

    :param asked: the method and the address of the request
    :param location: the header; may be empty
    :param section: the configuration section with the address
    """
    target = f'to {error_text.address(location)}'
    if not location:
        target = 'without a Location'
    is_token = asked.startswith('POST ') and asked.endswith('/auth/tokens')
    option = 'auth_url' if is_token else 'endpoint_override or auth_url'
    return Redirected(
        f'{asked} was redirected {target} (HTTP {status}), and no redirect '
        'is followed, because the credentials would go there: if the address '
        f'is right, use it as {option} in [{section}], or correct the endpoint '
        'in the catalog'
    )


def refuse_redirects(section: str) -> Callable[..., None]:
    """Return the response hook that refuses redirects.

    :param section: the configuration section with the address, for messages
    """

    def check(answer: requests.Response, **_how: Any) -> None:
        """Check one answer.

        :raises Redirected: the answer is a redirect
        """
        if answer.status_code not in REDIRECTS:
            return
        answer.close()
        sent = answer.request
        raise redirected(
            f'{sent.method} {error_text.address(sent.url or "")}',
            answer.status_code,
            answer.headers.get('Location', ''),
            section,
        )

    return check


def end_discovery(auth_url: str) -> Callable[..., None]:
    """Return the response hook that ends a discovery of keystone with 401.

    keystoneauth would send it again with a token. To get one it takes a lock,
    which it holds already, because the discovery is for a token. After the
    error it takes the version from the address.
    """
    asked = requests.Request('GET', auth_url).prepare().url

    def check(answer: requests.Response, **_how: Any) -> None:
        """Check one answer.

        :raises ksa_exceptions.DiscoveryFailure: keystone asks for a token
        """
        sent = answer.request
        if (answer.status_code, sent.method, sent.url) == (
            401,
            'GET',
            asked,
        ) and _TOKEN not in sent.headers:
            answer.close()
            raise ksa_exceptions.DiscoveryFailure(
                f'GET {error_text.address(auth_url)} needs a token (HTTP 401)'
            )

    return check


def bound_wait(answer: requests.Response, **_how: Any) -> None:
    """Limit Retry-After to a minute; drop it if it is no number (a hook)."""
    text = answer.headers.get(_RETRY_AFTER)
    if text is None:
        return
    if text.isascii() and text.isdigit():
        seconds = (
            LONGEST_WAIT if len(text) > 2 else min(LONGEST_WAIT, int(text))
        )
        answer.headers[_RETRY_AFTER] = str(seconds)
    else:
        drop_wait(answer)


def drop_wait(answer: requests.Response, **_how: Any) -> None:
    """Drop Retry-After: a hook for sessions of ironicclient."""
    answer.headers.pop(_RETRY_AFTER, None)
