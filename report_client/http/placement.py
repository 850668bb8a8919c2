# SPDX-License-Identifier: Apache-2.0
"""The only module that speaks HTTP with placement.

It sends a request at the newest microversion that both sides have. It returns
the body, or raises an error of ``errors.py``; it never returns None or False
for a failure. It sends no discovery request: an older server lists its
versions in its first answer (406). The caller retries; keystoneauth
authenticates.
"""

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import requests

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.transport import deadline, protection

from .. import errors
from . import no_answer
from .messages import codec, error_mapping, json_shapes, list_stream
from .messages.error_mapping import Access

_T = TypeVar('_T')

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Placement's answer to a request that succeeded.

    :ivar status: 2xx
    :ivar body: decoded JSON, None if the answer has no body
    :ivar last_modified: the header of this name, or ''
    """

    status: int
    body: Any
    last_modified: str = ''


class Response(Protocol):
    """The part of a requests.Response that this module uses."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""

    @property
    def content(self) -> bytes | Any:
        """The undecoded body."""

    def json(self) -> Any:
        """Return the decoded body."""

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Yield the body as it arrives."""

    def close(self) -> None:
        """Release the connection, even if the body has not all arrived."""


class Adapter(Protocol):
    """The part of a keystoneauth1 Adapter that this module uses."""

    def request(self, url: str, method: str, **kwargs: Any) -> Response:
        """Send one request."""


def _stay() -> None:
    """Keep the address."""


class Placement:
    """Placement's API over one keystoneauth adapter; threads may share it.

    :param access: how the service is reached, for messages; or only its name
        and address
    :param fence: asked before each write; returns for how many seconds no
        other agent of the share can write, or raises an error, and the write
        is not sent. A write without a generation could also be carried out
        later. So it gets no more time than that to arrive, and the fence is
        checked again once its connection is made.
    :param look_again: called after a request without a usable answer; finds
        placement's address anew, and raises nothing
    """

    def __init__(
        self,
        adapter: Adapter,
        access: Access | str,
        fence: Callable[[], float] | None = None,
        look_again: Callable[[], None] = _stay,
    ) -> None:
        self._adapter = adapter
        self._fence = fence
        self._look_again = look_again
        self._access = (
            Access(where=access) if isinstance(access, str) else access
        )
        self.where = self._access.where
        self._version = codec.NEWEST

    def get(self, path: str, needed: codec.Version = codec.OLDEST) -> Any:
        """Return the body of one read.

        :param needed: the oldest microversion that has this request
        """
        return self.send(codec.Request(method='GET', path=path), needed)

    def read(
        self,
        path: str,
        decode: Callable[[Iterable[bytes]], _T],
        needed: codec.Version = codec.OLDEST,
    ) -> _T:
        """Return the body of one read, decoded while it arrives.

        :param decode: makes the result from the chunks of the body
        :raises errors.Unreachable: the connection broke off
        :raises report_client.errors: as :meth:`send`, and errors of ``decode``
        """
        request = codec.Request(method='GET', path=path)
        with contextlib.closing(
            self._send(request, needed, stream=True)
        ) as response:
            return decode(self._chunks(response))

    def send(
        self, request: codec.Request, needed: codec.Version = codec.OLDEST
    ) -> Any:
        """Send one request; return the decoded body, or None if it is empty.

        :raises report_client.errors: the answer is not 2xx
        """
        return self.reply(request, needed).body

    def reply(
        self, request: codec.Request, needed: codec.Version = codec.OLDEST
    ) -> Reply:
        """Send one request; return the status and the body of a 2xx answer.

        :raises errors.TooOld: this placement is older than ``needed``, or has
            no version that this agent supports
        :raises report_client.errors: the answer is not 2xx
        """
        response = self._send(request, needed, stream=False)
        body = _json(response) if self._content(response) else None
        headers = getattr(response, 'headers', {})
        return Reply(
            status=response.status_code,
            body=body,
            last_modified=headers.get('Last-Modified', ''),
        )

    def _send(
        self, request: codec.Request, needed: codec.Version, *, stream: bool
    ) -> Response:
        """Return the 2xx response to a request.

        :param stream: leave the body unread
        """
        try:
            return self._accepted(request, needed, stream=stream)
        except errors.Unreachable:
            self._look_again()
            raise

    def _accepted(
        self, request: codec.Request, needed: codec.Version, *, stream: bool
    ) -> Response:
        """Return the 2xx response to a request at a version of both sides."""
        sent = self._version
        self._check(request, needed)
        response = self._answer(request, stream=stream)
        if response.status_code == 406 and self._negotiate(response, sent):
            self._check(request, needed)
            response = self._answer(request, stream=stream)
        if response.status_code == 406:
            raise self._no_version(response)
        if response.status_code == error_mapping.PARTIAL:
            response.close()
            raise errors.MalformedAnswer(
                f'{self.where} answered {request.method} {request.path} with '
                f'a part only (HTTP {error_mapping.PARTIAL}): check the '
                'proxies in front of it'
            )
        if response.status_code >= 300:
            raise self._error(request, response)
        return response

    def _check(self, request: codec.Request, needed: codec.Version) -> None:
        """Refuse a request if this placement is known to be too old for it."""
        if needed > self._version:
            raise errors.TooOld(
                f'{self.where} has API version {codec.dotted(self._version)}; '
                f'{request.method} {request.path} needs {codec.dotted(needed)} or '
                'newer: upgrade placement'
            )

    def _answer(self, request: codec.Request, *, stream: bool) -> Response:
        """Send one request; read the body too if the answer is an error."""
        response = self._request(request, stream=stream)
        if response.status_code >= 300:
            self._content(response)  # this also releases the connection
        return response

    def _content(self, response: Response) -> bytes:
        """Return the whole body."""
        try:
            content: bytes = response.content
        except requests.RequestException as exc:
            raise self._broken_off(exc) from exc
        except agent_errors.UnknownState as exc:
            raise errors.MalformedAnswer(str(exc)) from exc
        return content

    def _fenced(
        self, request: codec.Request
    ) -> contextlib.AbstractContextManager[None]:
        """Return the context in which a request may be sent.

        :raises compute_agent.errors.Unavailable: the request may not be sent
            now
        """
        if self._fence is None or request.method == 'GET':
            return contextlib.nullcontext()
        if request.is_conditional:
            self._fence()
            return contextlib.nullcontext()
        return deadline.fenced(self._fence)

    def _request(self, request: codec.Request, *, stream: bool) -> Response:
        with self._fenced(request):
            return self._sent(request, stream=stream)

    def _sent(self, request: codec.Request, *, stream: bool) -> Response:
        try:
            return self._adapter.request(
                request.path,
                request.method,
                json=request.body,
                microversion=codec.dotted(min(self._version, request.newest)),
                raise_exc=False,
                headers={'Accept': 'application/json'},
                stream=stream,
                redirect=False,
                rate_semaphore=protection.NO_RATE_LIMIT,
            )
        except agent_errors.UnknownState as exc:
            raise errors.MalformedAnswer(str(exc)) from exc
        except (agent_errors.ConfigError, agent_errors.Deposed) as exc:
            if self._fence is None:
                raise no_answer.error_for(exc, self._access) from exc
            raise  # the fence's
        except agent_errors.Unavailable as exc:
            raise errors.Unreachable(str(exc)) from exc
        except requests.RequestException as exc:
            # keystoneauth reads the body for its log.
            raise self._broken_off(exc) from exc
        except Exception as exc:
            raise no_answer.error_for(exc, self._access) from exc

    def _chunks(self, response: Response) -> Iterator[bytes]:
        """Yield a body as it arrives."""
        try:
            yield from response.iter_content(list_stream.CHUNK)
        except requests.RequestException as exc:
            raise self._broken_off(exc) from exc
        except agent_errors.UnknownState as exc:
            raise errors.MalformedAnswer(str(exc)) from exc

    def _broken_off(self, exc: Exception) -> errors.Unreachable:
        """Return the error for an answer that began but did not end."""
        return errors.Unreachable(
            f'{self.where} broke off its answer ({error_text.cause(exc)}): '
            f'{self._access.hint}'
        )

    def _negotiate(self, response: Response, sent: codec.Version) -> bool:
        """Adopt the server's newest version; return True if it has changed."""
        newest = codec.parse_version(_errors(response).get('max_version'))
        if newest is None:
            return False
        if newest < codec.OLDEST:
            raise errors.TooOld(
                f'{self.where} has API version {codec.dotted(newest)}; this agent '
                f'needs {codec.dotted(codec.OLDEST)} or newer: upgrade placement'
            )
        LOG.debug('%s has API version %s', self.where, codec.dotted(newest))
        self._version = min(newest, codec.NEWEST)
        return sent != self._version

    def _no_version(self, response: Response) -> errors.TooOld:
        """Return the error for a 406 without a version to try."""
        error = _errors(response)
        oldest = codec.parse_version(error.get('min_version'))
        newest = codec.parse_version(error.get('max_version'))
        advice = 'upgrade placement'
        if oldest is None or newest is None:
            offer = 'does not say which it takes'
        else:
            offer = f'says it takes {codec.dotted(oldest)} to {codec.dotted(newest)}'
            if oldest > codec.NEWEST:
                advice = 'upgrade this agent'
        return errors.TooOld(
            f'{self.where} refuses API version {codec.dotted(self._version)} (HTTP '
            f'406) and {offer}; this agent speaks {codec.dotted(codec.OLDEST)} to '
            f'{codec.dotted(codec.NEWEST)}: {advice}, or set endpoint_override in '
            '[placement] if that is not placement itself'
        )

    def _error(self, request: codec.Request, response: Response) -> Exception:
        status, error = response.status_code, _errors(response)
        if status in protection.REDIRECTS:
            asked = f'{request.method} {request.path} at {self.where}'
            target = getattr(response, 'headers', {}).get('Location', '')
            refusal = protection.redirected(asked, status, target, 'placement')
            return errors.Unreachable(str(refusal))
        if error_mapping.is_not_placement(request, status, error):
            told = f', "{error.get("detail")}"' if status == 400 else ''
            return errors.Unreachable(
                f'{self.where} is no placement (HTTP {status}{told}): '
                f'{self._access.hint}'
            )
        return error_mapping.error_for(request, status, error, self._access)


def _json(response: Response) -> Any:
    try:
        return response.json()
    except (RecursionError, ValueError) as exc:
        raise json_shapes.no_json(response.content[:60]) from exc


def _errors(response: Response) -> dict[str, Any]:
    """Return the first error of a body; see ``error_mapping.first_error``."""
    try:
        body = response.json()
    except (RecursionError, ValueError):
        body = None
    return error_mapping.first_error(body, response.content)
