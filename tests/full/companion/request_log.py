# SPDX-License-Identifier: Apache-2.0
"""The requests that reach placement, each with the program that sent it.

Each writer has an endpoint of its own, whose path begins with its name. The log
stands before placement's application and takes that word away again. Requests
without such a word are the test's own, and are not logged.
"""

import dataclasses
import json
import pathlib
import re
import time
import typing
from collections.abc import Iterable, Sequence
from wsgiref import types

NOVA = 'nova'
AGENT = 'agent'
WRITERS = (NOVA, AGENT)
CONFLICT = 409
_WORD = re.compile(f'/({"|".join(WRITERS)})(?=/|$)')
# nova reads the whole tree when it reads its providers anew, which it does in
# each refresh, and nowhere else once it reported the root.
_REFRESH = '/resource_providers?in_tree='


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, with placement's answer.

    :ivar at: when it was answered, in seconds
    :ivar path: with its query
    """

    at: float
    writer: str
    method: str
    path: str
    status: int

    @property
    def is_write(self) -> bool:
        """True if it could change something."""
        return self.method != 'GET'

    @property
    def is_conflict(self) -> bool:
        """True if it met another writer's change."""
        return self.status == CONFLICT

    @property
    def is_refresh(self) -> bool:
        """True if nova begins to read its providers anew with it."""
        return self.writer == NOVA and self.path.startswith(_REFRESH)

    @property
    def has_changed(self) -> bool:
        """True if it is a write, and placement did it."""
        return self.is_write and self.status < 400

    def __str__(self) -> str:
        return f'{self.writer}: {self.method} {self.path}: {self.status}'


class RequestLog:
    """The requests of all writers in the order of placement's answers."""

    def __init__(self) -> None:
        self._requests: list[Request] = []

    def __len__(self) -> int:
        return len(self._requests)

    def since(self, mark: int, writer: str = '') -> list[Request]:
        """Return the requests from a place on, of one writer or of all."""
        return [
            one for one in self._requests[mark:] if writer in {'', one.writer}
        ]

    def writes(self, mark: int = 0, writer: str = '') -> list[Request]:
        """Return the requests that could change something."""
        return [one for one in self.since(mark, writer) if one.is_write]

    def conflicts(self, mark: int = 0) -> list[Request]:
        """Return the requests that met another writer's change."""
        return [one for one in self.since(mark) if one.is_conflict]

    def refreshes(self, mark: int = 0) -> int:
        """Return how many times nova began to read its providers anew."""
        return sum(one.is_refresh for one in self.since(mark))

    def ended_refreshes(self) -> int:
        """Return how many of nova's passes with a refresh have ended.

        nova asks for the root's allocations when it begins a pass, and once
        more in it, after the refresh and before it writes.
        """
        return sum(
            self._passes(place, one.path.partition('=')[2]) > 1
            for place, one in enumerate(self._requests)
            if one.is_refresh
        )

    def _passes(self, mark: int, root: str) -> int:
        path = f'/resource_providers/{root}/allocations'
        return sum(one.path == path for one in self.since(mark, NOVA))

    def save(self, path: pathlib.Path) -> None:
        """Write all of them to a file, one line each."""
        path.write_text(
            ''.join(
                f'{json.dumps(dataclasses.asdict(one))}\n'
                for one in self._requests
            )
        )

    def watch(self, application: types.WSGIApplication) -> typing.Any:
        """Return the application with this log before it."""

        def logging(
            environ: types.WSGIEnvironment, start: types.StartResponse
        ) -> Iterable[bytes]:
            found = _WORD.match(environ['PATH_INFO'])
            if not found:
                return application(environ, start)
            environ['SCRIPT_NAME'] += found[0]
            environ['PATH_INFO'] = environ['PATH_INFO'][found.end() :]
            told: list[str] = []

            def starting(status: str, *rest: typing.Any) -> typing.Any:
                told.append(status)
                return start(status, *rest)

            answer = application(environ, starting)
            self._add(environ, found[1], told)
            return answer

        return logging

    def _add(
        self,
        environ: types.WSGIEnvironment,
        writer: str,
        told: Sequence[str],
    ) -> None:
        query = environ.get('QUERY_STRING')
        self._requests.append(
            Request(
                at=time.monotonic(),
                writer=writer,
                method=environ['REQUEST_METHOD'],
                path=environ['PATH_INFO'] + (f'?{query}' if query else ''),
                status=int(told[0].split()[0]),
            )
        )
