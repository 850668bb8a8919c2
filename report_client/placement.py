# SPDX-License-Identifier: Apache-2.0
"""The one place that speaks HTTP with placement and translates its refusals.

It sends a request at the newest microversion both sides have and returns the
body, or raises one of ``errors.py``: never None, never False. There is no
discovery call: the first answer of a server that is older (406) says what it
has. Retries are the caller's; authentication is keystoneauth's.
"""

import dataclasses
import logging
import re
from typing import Any, Protocol

from keystoneauth1 import exceptions as ksa_exceptions

from compute_agent import causes

from . import errors, wire

LOG = logging.getLogger(__name__)

_RACE = 'Another thread concurrently updated'
_ADDRESS = re.compile(r'https?://[^/\s]+')
_NO_SUCH_NAME = re.compile(r'No such (trait|resource class)', re.IGNORECASE)
_BY_STATUS: dict[int, type[Exception]] = {
    401: errors.NotAuthorised,
    403: errors.NotAuthorised,
    429: errors.Unreachable,
    502: errors.Unreachable,
    503: errors.Unreachable,
    504: errors.Unreachable,
}
_BY_CODE: dict[str, type[Exception]] = {
    'placement.concurrent_update': errors.Conflict,
    'placement.duplicate_name': errors.NameTaken,
    'placement.inventory.inuse': errors.InUse,
    'placement.resource_provider.cannot_delete_parent': errors.InUse,
    'placement.resource_provider.inuse': errors.InUse,
    'placement.resource_provider.not_found': errors.Vanished,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What placement answered to a request that it carried out.

    :ivar body: decoded, None if there is none
    """

    status: int
    body: Any


class Response(Protocol):
    """The part of a requests.Response that is used."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""

    @property
    def content(self) -> bytes | Any:
        """The body as it came."""

    def json(self) -> Any:
        """Return the decoded body."""


class Adapter(Protocol):
    """The part of a keystoneauth1 Adapter that is used."""

    def request(self, url: str, method: str, **kwargs: Any) -> Response:
        """Send one request."""


class Placement:
    """Placement's API over one keystoneauth adapter; threads may share it.

    :param where: what the operator calls this service, for messages
    :param hint: what to look at when it does not answer
    """

    def __init__(
        self, adapter: Adapter, where: str, hint: str = 'is it up?'
    ) -> None:
        self._adapter = adapter
        self._hint = hint
        self.where = where
        self._version = wire.NEWEST

    def get(self, path: str, needed: wire.Version = wire.OLDEST) -> Any:
        """Return the body of one read.

        :param needed: the microversion that this request first works in
        """
        return self.send(wire.Request(method='GET', path=path), needed)

    def send(
        self, request: wire.Request, needed: wire.Version = wire.OLDEST
    ) -> Any:
        """Send one request; return the decoded body, None if there is none.

        :raises report_client.errors: everything but a 2xx, by what to do next
        """
        return self.reply(request, needed).body

    def reply(
        self, request: wire.Request, needed: wire.Version = wire.OLDEST
    ) -> Reply:
        """Send one request; return which 2xx came, and the body.

        :raises errors.TooOld: this placement is older than ``needed``, or has
            no version that this agent speaks
        :raises report_client.errors: everything but a 2xx, by what to do next
        """
        sent = self._version
        self._check(request, needed)
        response = self._request(request)
        if response.status_code == 406 and self._negotiate(response, sent):
            self._check(request, needed)
            response = self._request(request)
        if response.status_code == 406:
            raise self._no_version(response)
        if response.status_code >= 300:
            raise self._refusal(request, response)
        body = _json(response) if response.content else None
        return Reply(status=response.status_code, body=body)

    def _check(self, request: wire.Request, needed: wire.Version) -> None:
        """Refuse what this placement is known to be too old for."""
        if needed > self._version:
            raise errors.TooOld(
                f'{self.where} has API version {_dotted(self._version)}; '
                f'{request.method} {request.path} needs {_dotted(needed)} or '
                'newer: upgrade placement'
            )

    def _request(self, request: wire.Request) -> Response:
        try:
            return self._adapter.request(
                request.path,
                request.method,
                json=request.body,
                microversion=_dotted(min(self._version, request.newest)),
                raise_exc=False,
                headers={'Accept': 'application/json'},
            )
        except (
            ksa_exceptions.Unauthorized,
            ksa_exceptions.Forbidden,
            ksa_exceptions.MissingAuthPlugin,
        ) as exc:
            raise errors.NotAuthorised(
                f'no token for {self.where}: {exc}; check auth_type, user '
                'and password in [placement]'
            ) from exc
        except ksa_exceptions.EndpointNotFound as exc:
            raise errors.Unreachable(
                f'no endpoint for {self.where} in the catalog: check '
                'region_name, valid_interfaces and service_type in '
                '[placement], or set endpoint_override'
            ) from exc
        except ksa_exceptions.ClientException as exc:
            cause, address = causes.cause(exc), _ADDRESS.search(str(exc))
            if address and address[0] not in self.where:
                cause += f' at {address[0]}'
            raise errors.Unreachable(
                f'{self.where} cannot be reached ({cause}): {self._hint}'
            ) from exc
        except Exception as exc:
            # What libraries raise for a missing certificate, an address that
            # is none, an option that is missing: no request was answered.
            raise errors.Unreachable(
                f'{self.where} cannot be asked ({type(exc).__name__}: '
                f'{causes.short(exc)}): check the options in [placement]'
            ) from exc

    def _negotiate(self, response: Response, sent: wire.Version) -> bool:
        """Take the server's newest version; return whether to ask again."""
        newest = _version(_errors(response).get('max_version'))
        if newest is None:
            return False
        if newest < wire.OLDEST:
            raise errors.TooOld(
                f'{self.where} has API version {_dotted(newest)}; this agent '
                f'needs {_dotted(wire.OLDEST)} or newer: upgrade placement'
            )
        LOG.debug('%s has API version %s', self.where, _dotted(newest))
        self._version = min(newest, wire.NEWEST)
        return sent != self._version

    def _no_version(self, response: Response) -> errors.TooOld:
        """Return the error for a 406 that taught nothing."""
        said = _errors(response)
        oldest = _version(said.get('min_version'))
        newest = _version(said.get('max_version'))
        advice = 'upgrade placement'
        if oldest is None or newest is None:
            offer = 'does not say which it takes'
        else:
            offer = f'says it takes {_dotted(oldest)} to {_dotted(newest)}'
            if oldest > wire.NEWEST:
                advice = 'upgrade this agent'
        return errors.TooOld(
            f'{self.where} refuses API version {_dotted(self._version)} (HTTP '
            f'406) and {offer}; this agent speaks {_dotted(wire.OLDEST)} to '
            f'{_dotted(wire.NEWEST)}: {advice}, or set endpoint_override in '
            '[placement] if that is not placement itself'
        )

    def _refusal(self, request: wire.Request, response: Response) -> Exception:
        said = _errors(response)
        answer = errors.Answer(
            status=response.status_code,
            code=str(said.get('code', '')),
            detail=str(said.get('detail') or said.get('title') or ''),
            request_id=str(said.get('request_id', '')),
        )
        if answer.status in {404, 405} and (
            _is_list(request) or 'status' not in said
        ):
            return errors.Unreachable(
                f'there is no placement at {self.where} (HTTP '
                f'{answer.status}): {self._hint}'
            )
        kind = _kind(request, answer)
        text = f'{request.method} {request.path}: {answer}'
        if kind is errors.NotAuthorised:
            text += (
                f'; {self.where} does not let this agent in: it needs a user '
                'with the role admin or service in [placement]'
            )
        if kind is errors.NotAllowed:
            text += (
                '; to move what is allocated, the user in [placement] '
                '(username) needs the role service too: add that role in '
                'keystone'
            )
        return kind(text)


def _is_list(request: wire.Request) -> bool:
    """Whether every placement has what is asked for, if only as nothing."""
    route = request.path.partition('?')[0]
    lists = {wire.PROVIDERS, wire.TRAITS, wire.RESOURCE_CLASSES}
    return request.method == 'GET' and route in lists


def _is_one(request: wire.Request) -> bool:
    """Whether it is about one thing that may be there or not."""
    if request.path.startswith(f'{wire.TRAITS}/'):
        return request.method != 'PUT'  # which creates it
    return request.path.startswith((wire.PROVIDERS, wire.CONSUMERS))


def _kind(  # noqa: PLR0911 (a row for each meaning)
    request: wire.Request, answer: errors.Answer
) -> type[Exception]:
    """Return the error for an answer that is not 2xx: what to do next."""
    if answer.status == 403 and request.path == wire.RESHAPER:
        return errors.NotAllowed
    meant = _BY_STATUS.get(answer.status) or _BY_CODE.get(answer.code)
    if meant is not None:
        return meant
    if answer.status >= 500:
        # A race that placement's traits handler does not catch.
        raced = _RACE in answer.detail
        return errors.Conflict if raced else errors.ServerFault
    if answer.status == 400 and _NO_SUCH_NAME.search(answer.detail):
        return errors.UnknownName
    if answer.status == 404 and _is_one(request):
        return errors.Vanished
    if answer.status == 409 and request.path.startswith(f'{wire.TRAITS}/'):
        return errors.InUse  # it has no code of its own
    return errors.BadRequest


def _version(text: object) -> wire.Version | None:
    """Return a microversion from a server's answer, None for no such."""
    match = re.fullmatch(r'([0-9]{1,4})\.([0-9]{1,4})', str(text))
    return (int(match[1]), int(match[2])) if match else None


def _dotted(version: wire.Version) -> str:
    return '{}.{}'.format(*version)


def _json(response: Response) -> Any:
    try:
        return response.json()
    except (RecursionError, ValueError) as exc:
        start = response.content[:60]
        raise errors.MalformedAnswer(
            f'placement answered no JSON: {start!r}; is there something '
            'else at that address?'
        ) from exc


def _errors(response: Response) -> dict[str, Any]:
    """Return the first error of placement's error body, or {}."""
    try:
        first = response.json()['errors'][0]
    except (LookupError, RecursionError, TypeError, ValueError):
        return {'detail': response.content[:200].decode(errors='replace')}
    return first if isinstance(first, dict) else {}
