# SPDX-License-Identifier: Apache-2.0
"""Requests to nova's API, answered completely or with an error.

Nova's lists come in pages. A page may be shorter than its limit though others
follow: nova leaves hypervisors without a service out after it has cut the
page. So a list ends with its first empty page, and not with a short one.
"""

import typing
import urllib.parse
from collections.abc import Iterator, Mapping

from keystoneauth1 import adapter

from ... import error_text, errors

# Nova of Stein; older ones do not tell of services in cells that are down.
MICROVERSION = '2.69'
LIMIT = 1000  # nova's default maximum
MOST_PAGES = 2000

Row = Mapping[str, typing.Any]


class NovaApi:
    """The API of one nova.

    :param account: the place of the options of the account, for messages
    """

    def __init__(self, found: adapter.Adapter, account: str) -> None:
        self._adapter = found
        self._account = account

    def rows(
        self, path: str, noun: str, query: Mapping[str, str]
    ) -> list[Row]:
        """Return the rows of a list that nova answers at once.

        :param noun: the key of the list in the answer
        :raises errors.AgentError: there is no complete answer
        """
        return _rows(self._get(path, query), noun)

    def pages(
        self, path: str, noun: str, query: Mapping[str, str]
    ) -> Iterator[list[Row]]:
        """Yield the pages of a list; the caller may stop early.

        :param noun: the key of the list in the answer
        :raises errors.AgentError: there is no complete answer
        """
        marker: dict[str, str] = {}
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            page = {'limit': str(LIMIT), **query, **marker}
            found = _rows(self._get(path, page), noun)
            if not found:
                return
            yield found
            last = identity(found[-1])
            if last in seen:
                raise errors.UnknownState(
                    f'nova answers GET {path} with the same page again: check '
                    'the proxies in front of it'
                )
            seen.add(last)
            marker = {'marker': last}
        raise errors.UnknownState(
            f'nova has more than {MOST_PAGES} pages of {noun}'
        )

    def has_server(self, uuid: str) -> bool:
        """Return True if nova has a server of this uuid; one request.

        :raises errors.AgentError: nova gives no clear answer
        """
        return self.server(uuid) is not None

    def server(self, uuid: str) -> Row | None:
        """Return a server, None if nova has none of this uuid; one request.

        :raises errors.AgentError: nova gives no clear answer
        """
        path = f'/servers/{uuid}'
        status, body = self._answer(path, {})
        if status == 404 and _not_found(body) and uuid in _not_found(body):
            return None
        self._check(path, status, body)
        found = body.get('server')
        if not isinstance(found, dict):
            raise errors.UnknownState(
                f"nova's answer has no server: {error_text.excerpt(body)}"
            )
        return found

    def _get(self, path: str, query: Mapping[str, str]) -> typing.Any:
        status, body = self._answer(path, query)
        self._check(path, status, body)
        return body

    def _answer(
        self, path: str, query: Mapping[str, str]
    ) -> tuple[int, typing.Any]:
        url = f'{path}?{urllib.parse.urlencode(query)}' if query else path
        try:
            answer = self._adapter.request(
                url,
                'GET',
                microversion=MICROVERSION,
                raise_exc=False,
                redirect=False,
                headers={'Accept': 'application/json'},
            )
            return answer.status_code, _json(answer.content, answer)
        except errors.AgentError:
            raise
        except Exception as exc:
            raise errors.Unavailable(
                f'nova cannot be asked ({error_text.cause(exc)}): check that '
                f'it runs, and the options in {self._account}'
            ) from exc

    def _check(self, path: str, status: int, body: object) -> None:
        """Refuse an answer other than 200.

        :raises errors.AgentError: by the status
        """
        if status == 200 and isinstance(body, dict):
            return
        said = _not_found(body)
        told = f'nova answered GET {path} with HTTP {status}'
        if said:
            told += f' ({error_text.cut(error_text.as_line(said), 200)})'
        if status in {401, 403}:
            raise errors.Unavailable(
                f'{told}: give the user in {self._account} a role to list '
                'services, hypervisors, and the servers and migrations of all '
                'projects, such as admin'
            )
        if status == 406:
            raise errors.ConfigError(
                f'{told}: it must have API version {MICROVERSION}, of Stein, '
                'or newer'
            )
        raise errors.UnknownState(told)


def identity(row: Row) -> str:
    """Return the uuid of a row, which is also the marker of the next page.

    :raises errors.UnknownState: it has none
    """
    # A migration has a number as its id, and is named by its uuid.
    found = row.get('uuid') or row.get('id')
    if not isinstance(found, str) or not found:
        raise errors.UnknownState(
            f'nova answered with a row without uuid: {error_text.excerpt(row)}'
        )
    return found


def text(row: Row, field: str) -> str:
    """Return a string of a row.

    :raises errors.UnknownState: it has none
    """
    found = row.get(field)
    if not isinstance(found, str):
        raise errors.UnknownState(
            f'nova answered with a row without {field}: '
            f'{error_text.excerpt(row)}'
        )
    return found


def _rows(body: typing.Any, noun: str) -> list[Row]:
    found = body.get(noun)
    if not isinstance(found, list) or not all(
        isinstance(row, dict) for row in found
    ):
        raise errors.UnknownState(
            f"nova's answer has no list of {noun}: {error_text.excerpt(body)}"
        )
    return found


def _json(content: bytes, answer: typing.Any) -> typing.Any:
    try:
        return answer.json() if content else None
    except (RecursionError, ValueError):
        return None


def _not_found(body: object) -> str:
    """Return nova's message in an error body, '' if there is none."""
    if isinstance(body, dict) and len(body) == 1:
        (error,) = body.values()
        if isinstance(error, dict) and isinstance(error.get('message'), str):
            return str(error['message'])
    return ''
