# SPDX-License-Identifier: Apache-2.0
"""Connections whose answers have a deadline and a size limit.

The size counts after decompression, so a small compressed body cannot fill the
memory. At most one compression is accepted, because nested ones multiply the
size. The body of an error is cut at a size of its own, because its status says
enough.
"""

import math
from collections.abc import Iterator
from typing import Any

import requests
from keystoneauth1 import session

from .. import error_text, errors
from . import deadline

MIB = 1 << 20
MOST_AT_ONCE = 128 * MIB  # an answer that is decoded as a whole
MOST_STREAMED = 512 * MIB  # a list of 600,000 providers, decoded row by row
MOST_OF_ERROR = MIB
FIRST_ERROR = 400  # of HTTP's statuses

_ENCODINGS = frozenset({'', 'identity', 'gzip', 'x-gzip', 'deflate'})


class BoundedAdapter(session.TCPKeepAliveAdapter):
    """Sends requests; threads may share it.

    :param seconds: the deadline of one answer; 0 for no deadline
    :param check_opened: checks a new connection before its first request
    """

    def __init__(
        self,
        *,
        seconds: float,
        check_opened: deadline.Opened = deadline.accept,
        **named: Any,
    ) -> None:
        self._seconds = seconds
        self._check_opened = check_opened
        super().__init__(**named)

    def init_poolmanager(self, *args: Any, **named: Any) -> None:
        """Make the pools; their connections keep the deadlines."""
        super().init_poolmanager(*args, **named)
        deadline.enforce(
            self.poolmanager,
            self._check_opened,
            longest=self._seconds or math.inf,
        )

    def proxy_manager_for(self, proxy: str, **named: Any) -> Any:
        """Return the pools of a proxy; they keep the deadlines too."""
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **named)
        if is_new:
            deadline.enforce(manager, longest=self._seconds or math.inf)
        return manager

    def send(
        self, request: requests.PreparedRequest, *args: Any, **how: Any
    ) -> requests.Response:
        """Send a request; the answer is bounded, also if it is read later.

        If it gets no answer, the idle connections are closed, too. They lead
        to the same server: after its address moved to another one, each would
        cost a request its whole time.

        :raises errors.UnknownState: the body is compressed in another way
            than asked for
        :raises errors.Unavailable: the deadline passed before the request was
            sent
        """
        if deadline.has_passed():
            raise errors.Unavailable(
                f'{request.method} {error_text.address(str(request.url))} was '
                'not sent: a rate limit or a retry took all the time that it had'
            )
        try:
            with deadline.within(self._seconds):
                answer = super().send(request, *args, **how)
        except (requests.ConnectionError, requests.Timeout):
            self.close()
            raise
        streamed = how.get('stream') or (args and args[0])
        return BoundedResponse.from_response(
            answer, MOST_STREAMED if streamed else MOST_AT_ONCE
        )


class BoundedResponse(requests.Response):
    """An answer whose body may not exceed a size.

    :ivar most: bytes after decompression
    """

    most: int

    @classmethod
    def from_response(
        cls, answer: requests.Response, most: int
    ) -> 'BoundedResponse':
        """Return the answer with a limit.

        :raises errors.UnknownState: its compression is not supported
        """
        made = cls()
        vars(made).update(vars(answer))
        made.most = most
        encoding = answer.headers.get('Content-Encoding', '').strip()
        if encoding.lower() not in _ENCODINGS:
            answer.close()
            raise errors.UnknownState(
                f'{made.called} has the Content-Encoding '
                f'{error_text.excerpt(encoding)}, which was not asked for'
            )
        return made

    @property
    def called(self) -> str:
        """The words for this answer in messages."""
        url = error_text.address(self.url)
        return f'the answer to {self.request.method} {url}'

    def iter_content(
        self,
        chunk_size: int | None = 1,
        decode_unicode: bool = False,  # noqa: FBT001, FBT002 (as in requests)
    ) -> Iterator[Any]:
        """Yield the body as it arrives, up to its largest size.

        :raises errors.UnknownState: the body is larger, and that of no error
        """
        read = 0
        is_error = self.status_code >= FIRST_ERROR
        for chunk in super().iter_content(chunk_size, decode_unicode):
            read += len(chunk)
            if is_error and read > MOST_OF_ERROR:
                self.close()
                return
            if read > self.most:
                self.close()
                raise errors.UnknownState(
                    f'{self.called} is larger than {self.most // MIB} MiB; '
                    'does another service use that address?'
                )
            yield chunk
