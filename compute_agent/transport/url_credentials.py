# SPDX-License-Identifier: Apache-2.0
"""Take users and passwords out of URLs, and send them as a header instead.

An operator may write ``http://user:secret@proxy/placement``. Libraries repeat
URLs in their logs and errors, so the secret must not be part of one.
"""

import base64
import os
from collections.abc import Mapping
from urllib import parse

import requests
from requests import auth

from .. import error_text, errors

_PROXIES = {'http_proxy', 'https_proxy', 'all_proxy'}

# The scheme and the host with its port, as in the Origin header.
_Origin = tuple[str, str]


class UrlCredentials(auth.AuthBase):
    """Adds the credentials of URLs to the requests for their hosts."""

    def __init__(self) -> None:
        self._headers: dict[_Origin, str] = {}

    def __bool__(self) -> bool:
        return bool(self._headers)

    def take(self, url: str) -> str:
        """Return the URL without user and password, which are kept."""
        bare, user = error_text.split_credentials(url)
        if bare == url:
            return url
        name, _, password = user.partition(':')
        words = f'{parse.unquote(name)}:{parse.unquote(password)}'
        encoded = base64.b64encode(words.encode()).decode('ascii')
        parts = parse.urlsplit(bare)
        origin = parts.scheme, parts.netloc.lower()
        self._headers[origin] = f'Basic {encoded}'
        return bare

    def take_all(self, holder: object, names: Mapping[str, object]) -> None:
        """Take the credentials out of these attributes of an object.

        :param names: the attributes that may be URLs, and their values
        """
        for name, url in names.items():
            if isinstance(url, str) and '@' in url:
                setattr(holder, name, self.take(url))

    def __call__(
        self, request: requests.PreparedRequest
    ) -> requests.PreparedRequest:
        """Add the header to a request for a host with credentials."""
        parts = parse.urlsplit(request.url or '')
        header = self._headers.get((parts.scheme, parts.netloc.lower()))
        if header is not None:
            request.headers.setdefault('Authorization', header)
        return request


def check(option: str, url: str | None) -> None:
    """Refuse an address that is not a URL; the message shows no password.

    :param option: its name, as the operator wrote it
    :raises errors.ConfigError: the address has no scheme, or its port is no
        number
    """
    if not url:
        return
    if not url.startswith(('http://', 'https://')):
        shown = error_text.excerpt(error_text.address(url))
        raise errors.ConfigError(
            f'{option} {shown} is not an address: begin it with http:// or '
            'https://'
        )
    _check_host(option, error_text.split_credentials(url)[0])


def check_proxies() -> None:
    """Refuse a proxy of the environment whose address cannot be read.

    An error of a library about it repeats a part of the password.

    :raises errors.ConfigError: a host or port cannot be read
    """
    for name, url in sorted(os.environ.items()):
        if name.lower() in _PROXIES and url:
            full = url if '://' in url else f'http://{url}'
            _check_host(f'the environment variable {name}', full)


def _check_host(name: str, url: str) -> None:
    """Refuse a URL whose host or port cannot be read.

    ``urllib`` drops line breaks, and a library may send a blank as ``%20``.

    :raises errors.ConfigError: the host or the port cannot be read
    """
    try:
        _ = parse.urlsplit(url).port
    except ValueError:  # its text has a part of the password
        is_cut = True
    else:
        has_more = '@' in error_text.split_credentials(url)[0]
        is_cut = has_more or ' ' in url or not url.isprintable()
    if is_cut:
        raise errors.ConfigError(
            f'{name} is not an address, for its host or port '
            'cannot be read: in a user or password, write / as %2F, ? as %3F, '
            '# as %23 and a blank as %20'
        )
