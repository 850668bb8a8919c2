# SPDX-License-Identifier: Apache-2.0
"""The gate lets a browser in: token, Host, Origin and method of a request.

A page shows a cloud with the account of the person who runs the command, so
only that person's browser may have it. The address that the command prints has
a token that works once; it is exchanged for a cookie of this server. A page of
another site, also one whose name suddenly leads to 127.0.0.1, is refused. A
refusal is one line that repeats nothing of the request. The module does no
I/O; ``web_server.py`` and the daemon's page ask it.
"""

import contextlib
import dataclasses
import hmac
import ipaddress
import re
import secrets
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence

TOKEN = 'token'  # noqa: S105 (the name of the parameter)
_MOST_SESSIONS = 16  # browsers of one person; the oldest is forgotten
_LOCAL = frozenset({'127.0.0.1', 'localhost', '::1'})
_HOST = re.compile(r'(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?')
_SITES = frozenset({'', 'none', 'same-origin'})

#: The parameters of an address; each may have several values.
Query = Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, as far as the gate and the pages know one.

    :ivar path: without the query
    :ivar query: the decoded parameters
    :ivar headers: by name in small letters
    """

    method: str
    path: str
    query: Query
    headers: Mapping[str, str]

    def first(self, name: str) -> str:
        """Return the first value of a parameter, '' if there is none."""
        return next(iter(self.query.get(name, ())), '').strip()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that is refused; the line is all of the answer."""

    status: int
    line: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A browser that came with the token.

    :ivar cookie: what it shows from now on
    :ivar path: where it goes on, without the token
    """

    cookie: str
    path: str


def foreign(asked: Asked, hosts: Collection[str]) -> Refusal | None:
    """Return why a request comes from another site, None if it does not.

    :param hosts: the names of this server, besides those of this machine
    """
    host = asked.headers.get('host', '')
    named = _HOST.fullmatch(host)
    name = (named[1] or named[2]).lower() if named else ''
    if not name or not (name in _LOCAL or name in hosts or _is_loopback(name)):
        return Refusal(
            status=421,
            line='the Host of this request is not this server: open the '
            'address that it printed',
        )
    origin = asked.headers.get('origin')
    site = asked.headers.get('sec-fetch-site', '')
    is_visit = asked.headers.get('sec-fetch-mode', 'navigate') == 'navigate'
    if origin not in (None, f'http://{host}') or not (
        site in _SITES or is_visit
    ):
        return Refusal(
            status=403, line='a page of another site may not ask this server'
        )
    if asked.method not in {'GET', 'HEAD'}:
        return Refusal(status=405, line='these pages are only read: use GET')
    return None


def _is_loopback(name: str) -> bool:
    """Return True for an address of this machine alone."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Return True if a Host is an IP address, which no other site can be."""
    named = _HOST.fullmatch(host)
    try:
        ipaddress.ip_address((named[1] or named[2]) if named else '')
    except ValueError:
        return False
    return True


class Gate:
    """Lets the browsers of one person in.

    :param cookie: the name of the cookie
    :param hosts: the names of this server, besides those of this machine
    :param tell: called with a new token when one has been used
    :ivar token: works once
    """

    def __init__(
        self,
        cookie: str,
        hosts: Collection[str] = (),
        tell: Callable[[str], object] = bool,
    ) -> None:
        self._cookie = cookie
        self._hosts = hosts
        self._tell = tell
        self._sessions: list[str] = []
        self.token = secrets.token_urlsafe(24)

    def judge(self, asked: Asked) -> Refusal | Entry | None:
        """Return why a request is refused, a new browser, or None."""
        refused = foreign(asked, self._hosts)
        if refused is not None:
            return refused
        if TOKEN in asked.query:
            return self._enter(asked)
        shown = _cookies(asked.headers.get('cookie', '')).get(self._cookie, '')
        if any(_is_same(shown, one) for one in self._sessions):
            return None
        return Refusal(
            status=403,
            line='the address lacks its token: open the one that '
            '"compute-agent explore" printed last',
        )

    def _enter(self, asked: Asked) -> Refusal | Entry:
        if not _is_same(asked.first(TOKEN), self.token):
            return Refusal(
                status=403,
                line='this token was used already, or is none: open the '
                'address that "compute-agent explore" printed last',
            )
        self.token = secrets.token_urlsafe(24)
        self._sessions.append(secrets.token_urlsafe(24))
        del self._sessions[:-_MOST_SESSIONS]
        with contextlib.suppress(OSError):  # nobody reads its output any more
            self._tell(self.token)
        rest = [
            (name, value)
            for name, values in asked.query.items()
            for value in values
            if name != TOKEN
        ]
        query = f'?{urllib.parse.urlencode(rest)}' if rest else ''
        path = f'/{urllib.parse.quote(asked.path.strip("/"))}{query}'
        cookie = (
            f'{self._cookie}={self._sessions[-1]}; HttpOnly; SameSite=Lax; '
            'Path=/'
        )
        return Entry(cookie=cookie, path=path)


def _cookies(header: str) -> dict[str, str]:
    pairs = (part.partition('=') for part in header.split(';'))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
