# SPDX-License-Identifier: Apache-2.0
"""The one place that speaks HTTP with placement.

It sends a request at the newest microversion both sides have and returns the
body, or raises one of ``errors.py``: never None, never False. There is no
discovery call: the first answer of a server that is older (406) says what it
has. Retries are the caller's; authentication is keystoneauth's.
"""

import contextlib
import dataclasses
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import requests
from keystoneauth1 import exceptions as ksa_exceptions

from compute_agent import error_text

from .. import errors
from . import codec, error_mapping, json_shapes, list_stream

_T = TypeVar('_T')

LOG = logging.getLogger(__name__)

_ADDRESS = re.compile(r'https?://[^/\s]+')


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

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Yield the body as it comes."""

    def close(self) -> None:
        """Let the connection go, whatever of the body still comes."""


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
        self._version = codec.NEWEST

    def get(self, path: str, needed: codec.Version = codec.OLDEST) -> Any:
        """Return the body of one read.

        :param needed: the microversion that this request first works in
        """
        return self.send(codec.Request(method='GET', path=path), needed)

    def read(
        self,
        path: str,
        taken_in: Callable[[Iterable[bytes]], _T],
        needed: codec.Version = codec.OLDEST,
    ) -> _T:
        """Return what is made of the body of one read while it still comes.

        :param taken_in: makes it of chunks of bytes, to the last
        :raises errors.Unreachable: it broke off
        :raises report_client.errors: as :meth:`send`, and what it raises
        """
        request = codec.Request(method='GET', path=path)
        with contextlib.closing(
            self._carried_out(request, needed, stream=True)
        ) as response:
            return taken_in(self._chunks(response))

    def send(
        self, request: codec.Request, needed: codec.Version = codec.OLDEST
    ) -> Any:
        """Send one request; return the decoded body, None if there is none.

        :raises report_client.errors: everything but a 2xx, by what to do next
        """
        return self.reply(request, needed).body

    def reply(
        self, request: codec.Request, needed: codec.Version = codec.OLDEST
    ) -> Reply:
        """Send one request; return which 2xx came, and the body.

        :raises errors.TooOld: this placement is older than ``needed``, or has
            no version that this agent speaks
        :raises report_client.errors: everything but a 2xx, by what to do next
        """
        response = self._carried_out(request, needed, stream=False)
        body = _json(response) if response.content else None
        return Reply(status=response.status_code, body=body)

    def _carried_out(
        self, request: codec.Request, needed: codec.Version, *, stream: bool
    ) -> Response:
        """Return the answer to a request that placement carried out.

        :param stream: leave its body to come
        """
        sent = self._version
        self._check(request, needed)
        response = self._answer(request, stream=stream)
        if response.status_code == 406 and self._negotiate(response, sent):
            self._check(request, needed)
            response = self._answer(request, stream=stream)
        if response.status_code == 406:
            raise self._no_version(response)
        if response.status_code >= 300:
            raise self._refusal(request, response)
        return response

    def _check(self, request: codec.Request, needed: codec.Version) -> None:
        """Refuse what this placement is known to be too old for."""
        if needed > self._version:
            raise errors.TooOld(
                f'{self.where} has API version {_dotted(self._version)}; '
                f'{request.method} {request.path} needs {_dotted(needed)} or '
                'newer: upgrade placement'
            )

    def _answer(self, request: codec.Request, *, stream: bool) -> Response:
        """Send one request; of a refusal, the body is there as well."""
        response = self._request(request, stream=stream)
        if response.status_code >= 300:
            try:
                _ = response.content  # which frees the connection, too
            except requests.RequestException as exc:
                raise self._broken_off(exc) from exc
        return response

    def _request(self, request: codec.Request, *, stream: bool) -> Response:
        try:
            return self._adapter.request(
                request.path,
                request.method,
                json=request.body,
                microversion=_dotted(min(self._version, request.newest)),
                raise_exc=False,
                headers={'Accept': 'application/json'},
                stream=stream,
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
            cause, address = error_text.cause(exc), _ADDRESS.search(str(exc))
            if address and address[0] not in self.where:
                cause += f' at {address[0]}'
            raise errors.Unreachable(
                f'{self.where} cannot be reached ({cause}): {self._hint}'
            ) from exc
        except requests.RequestException as exc:  # its log reads the body
            raise self._broken_off(exc) from exc
        except Exception as exc:
            # What libraries raise for a missing certificate, an address that
            # is none, an option that is missing: no request was answered.
            raise errors.Unreachable(
                f'{self.where} cannot be asked ({type(exc).__name__}: '
                f'{error_text.short(exc)}): check the options in [placement]'
            ) from exc

    def _chunks(self, response: Response) -> Iterator[bytes]:
        """Yield a body as it comes."""
        try:
            yield from response.iter_content(list_stream.CHUNK)
        except requests.RequestException as exc:
            raise self._broken_off(exc) from exc

    def _broken_off(self, exc: Exception) -> errors.Unreachable:
        """Return the error for an answer that began, and did not end."""
        return errors.Unreachable(
            f'{self.where} broke off its answer ({error_text.cause(exc)}): '
            f'{self._hint}'
        )

    def _negotiate(self, response: Response, sent: codec.Version) -> bool:
        """Take the server's newest version; return whether to ask again."""
        newest = _version(_errors(response).get('max_version'))
        if newest is None:
            return False
        if newest < codec.OLDEST:
            raise errors.TooOld(
                f'{self.where} has API version {_dotted(newest)}; this agent '
                f'needs {_dotted(codec.OLDEST)} or newer: upgrade placement'
            )
        LOG.debug('%s has API version %s', self.where, _dotted(newest))
        self._version = min(newest, codec.NEWEST)
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
            if oldest > codec.NEWEST:
                advice = 'upgrade this agent'
        return errors.TooOld(
            f'{self.where} refuses API version {_dotted(self._version)} (HTTP '
            f'406) and {offer}; this agent speaks {_dotted(codec.OLDEST)} to '
            f'{_dotted(codec.NEWEST)}: {advice}, or set endpoint_override in '
            '[placement] if that is not placement itself'
        )

    def _refusal(
        self, request: codec.Request, response: Response
    ) -> Exception:
        status, said = response.status_code, _errors(response)
        if error_mapping.is_not_placement(request, status, said):
            return errors.Unreachable(
                f'there is no placement at {self.where} (HTTP {status}): '
                f'{self._hint}'
            )
        return error_mapping.error_for(request, status, said, self.where)


def _version(text: object) -> codec.Version | None:
    """Return a microversion from a server's answer, None for no such."""
    match = re.fullmatch(r'([0-9]{1,4})\.([0-9]{1,4})', str(text))
    return (int(match[1]), int(match[2])) if match else None


def _dotted(version: codec.Version) -> str:
    return '{}.{}'.format(*version)


def _json(response: Response) -> Any:
    try:
        return response.json()
    except (RecursionError, ValueError) as exc:
        raise json_shapes.no_json(response.content[:60]) from exc


def _errors(response: Response) -> dict[str, Any]:
    """Return the first error of placement's error body, or {}."""
    try:
        first = response.json()['errors'][0]
    except (LookupError, RecursionError, TypeError, ValueError):
        return {'detail': response.content[:200].decode(errors='replace')}
    return first if isinstance(first, dict) else {}
