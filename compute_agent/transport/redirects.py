# SPDX-License-Identifier: Apache-2.0
"""Refuse redirects: the token, the password and the body stay here.

keystoneauth, its authentication plugins and ironicclient follow redirects to
any host and believe the answer. The response hook made here sees each answer
of a session before they do.
"""

from collections.abc import Callable
from typing import Any

import requests

from .. import error_text, errors

#: Statuses that clients follow. 300 is keystone's list of its versions.
STATUSES = frozenset({301, 302, 303, 305, 307, 308})


class Redirected(errors.Unavailable):
    """A server sent the request to another address; nothing was sent there."""


def refusal(
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


def refuse(section: str) -> Callable[..., None]:
    """Return the response hook that refuses redirects.

    :param section: the configuration section with the address, for messages
    """

    def check(answer: requests.Response, **_how: Any) -> None:
        """Check one answer.

        :raises Redirected: it is a redirect
        """
        if answer.status_code not in STATUSES:
            return
        answer.close()
        sent = answer.request
        raise refusal(
            f'{sent.method} {error_text.address(sent.url or "")}',
            answer.status_code,
            answer.headers.get('Location', ''),
            section,
        )

    return check
