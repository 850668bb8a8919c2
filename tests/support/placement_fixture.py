# SPDX-License-Identifier: Apache-2.0
"""A fresh real placement for a test, in process and without a socket.

A pytest plugin: ``placement`` is the fixture most tests want, and
``placement_server`` the same service behind a port. Placement keeps its state
in module globals, so the application is built once and each test gets its
database emptied, which takes a millisecond; ``placement_slot`` makes room for
a test that builds one by itself.
"""

import collections.abc
import contextlib
import dataclasses
import fnmatch
import importlib
import io
import json
import sqlite3
import threading
import typing

import pytest
import requests
import requests.adapters
import urllib3

Body: typing.TypeAlias = typing.Any
Outcome: typing.TypeAlias = (
    int | tuple[int, Body] | Exception | type[Exception]
)

URL = 'http://placement.test'
MICROVERSION = '1.39'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as the client sent it and as it ended for the client.

    :ivar path: with its query
    :ivar body: the decoded JSON, or None
    :ivar status: None where the client got an exception, and before the end
    :ivar handled: whether the real placement was asked
    """

    method: str
    path: str
    body: Body = None
    microversion: str | None = None
    status: int | None = None
    handled: bool = False

    def __str__(self) -> str:
        return f'{self.method} {self.path}'


Match: typing.TypeAlias = str | collections.abc.Callable[[Request], bool]
Hook: typing.TypeAlias = collections.abc.Callable[[Request], object]


@dataclasses.dataclass(slots=True, kw_only=True)
class Fault:
    """What some requests get in place of placement's answer.

    :ivar skip: how many matching requests still pass first
    :ivar times: how many then fail; None is all
    :ivar hits: how many have failed
    """

    match: Match
    outcome: Outcome
    times: int | None
    skip: int
    after_commit: bool
    hits: int = 0

    def takes(self, request: Request) -> bool:
        """Whether this request fails; it is counted."""
        if self.times is not None and self.hits >= self.times:
            return False
        if not _matches(self.match, request):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.hits += 1
        return True

    def answer(self, sent: requests.PreparedRequest) -> requests.Response:
        """Return the answer, or raise, as the outcome says."""
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if isinstance(self.outcome, type):
            raise self.outcome('injected by the test')
        if isinstance(self.outcome, int):
            body: Body = _error_body(self.outcome)
            return _response(sent, self.outcome, _encode(body))
        status, body = self.outcome
        return _response(sent, status, _encode(body))


class InProcessPlacement:
    """The real placement, what was asked of it, and what is to go wrong.

    ``empty`` is the file of its database without any provider.
    ``session`` is for the code under test, as in
    ``keystoneauth1.session.Session(session=placement.session)``; what goes
    through it is recorded in ``requests``, meets faults and hooks. ``get``,
    ``put``, ``post`` and ``delete`` are an operator beside it: recorded
    nowhere, never failing by injection, with all of placement's roles.
    """

    url = URL

    def __init__(self) -> None:
        app = importlib.import_module('compute_agent.dev.placement_app')
        self._release = app.release
        self._app = app.create_app('sqlite://')
        quick = importlib.import_module('quick_placement')
        self._undo = contextlib.ExitStack()
        self._undo.callback(quick.keep_validators())
        self._undo.callback(quick.keep_aliases())
        engine = app.db_api.get_placement_engine()
        quick.spare_pauses(engine)
        lent = engine.raw_connection()
        self._database: sqlite3.Connection = lent.driver_connection
        lent.close()
        self.empty = self._database.serialize()
        self._lock = threading.RLock()
        self._faults: list[Fault] = []
        self._hooks: list[Hook] = []
        self.requests: list[Request] = []
        self.session = _session(self._answer)
        self._operator = _session(self._ask)

    @property
    def writes(self) -> list[Request]:
        """The recorded requests that are no GET."""
        return [r for r in self.requests if r.method != 'GET']

    def clear(self) -> None:
        """Forget the recorded requests; the database stays."""
        self.requests.clear()

    def reset(self) -> None:
        """Become a fresh placement: no provider, fault, hook or record."""
        with self._lock:
            self._database.deserialize(self.empty)
            self._faults.clear()
            self._hooks.clear()
            self.clear()

    def close(self) -> None:
        """Release the process's one placement."""
        self.session.close()
        self._operator.close()
        self._undo.close()
        self._release()

    def before_request(self, hook: Hook) -> None:
        """Call this with each request, unanswered, just before placement.

        What it raises reaches the client. It may call ``get``, ``put`` and
        the like: that is how a test acts between two requests of an agent.
        """
        self._hooks.append(hook)

    def fault(
        self,
        match: Match,
        outcome: Outcome,
        *,
        times: int | None = 1,
        skip: int = 0,
        after_commit: bool = False,
    ) -> Fault:
        """Let the next matching requests fail.

        :param match: a glob over ``METHOD /path?query``, or a predicate
        :param outcome: a status, a status and a body (JSON, or str or bytes
            sent as they are), or an exception to raise
        :param times: how many; None is all from now on
        :param skip: how many matching requests pass first
        :param after_commit: let placement do it first, then lose its answer
        """
        fault = Fault(
            match=match,
            outcome=outcome,
            times=times,
            skip=skip,
            after_commit=after_commit,
        )
        self._faults.append(fault)
        return fault

    def mend(self) -> None:
        """Drop all faults and hooks."""
        self._faults.clear()
        self._hooks.clear()

    def get(self, path: str, **how: typing.Any) -> Body:
        """Return what an operator's GET is answered; see ``operate``."""
        return self.operate('GET', path, **how)

    def put(self, path: str, body: Body = None, **how: typing.Any) -> Body:
        """Return what an operator's PUT is answered."""
        return self.operate('PUT', path, body, **how)

    def post(self, path: str, body: Body = None, **how: typing.Any) -> Body:
        """Return what an operator's POST is answered."""
        return self.operate('POST', path, body, **how)

    def delete(self, path: str, **how: typing.Any) -> Body:
        """Return what an operator's DELETE is answered."""
        return self.operate('DELETE', path, **how)

    def operate(
        self,
        method: str,
        path: str,
        body: Body = None,
        *,
        status: int | None = None,
        microversion: str = MICROVERSION,
    ) -> Body:
        """Return the decoded answer, None for an empty one.

        :param status: what must come; any below 400 unless given
        """
        response = self._operator.request(
            method,
            self.url + path,
            json=body,
            headers={
                'X-Auth-Token': 'admin',
                'X-Roles': 'admin,service',
                'OpenStack-API-Version': f'placement {microversion}',
            },
        )
        got = response.status_code
        fine = got < 400 if status is None else got == status
        assert fine, f'{method} {path}: {got} {response.text}'
        return response.json() if response.content else None

    def _answer(self, sent: requests.PreparedRequest) -> requests.Response:
        """Answer the code under test, with hooks, faults and a record."""
        request = _read(sent)
        for hook in list(self._hooks):
            hook(request)
        with self._lock:
            takers = (f for f in self._faults if f.takes(request))
            fault = next(takers, None)
            handled = fault is None or fault.after_commit
            status = None
            try:
                if handled:
                    response = self._ask(sent)
                if fault is not None:
                    response = fault.answer(sent)
                status = response.status_code
            finally:
                self.requests.append(
                    dataclasses.replace(
                        request, status=status, handled=handled
                    )
                )
        return response

    def _ask(self, sent: requests.PreparedRequest) -> requests.Response:
        """Ask the application itself; one at a time, as SQLite needs it."""
        webob = importlib.import_module('webob')
        asked = webob.Request.blank(
            sent.path_url,
            method=sent.method,
            headers=dict(sent.headers),
            body=_bytes(sent.body),
        )
        with self._lock:
            got = asked.get_response(self._app)
        return _response(sent, got.status_int, got.body, got.headers.items())


class _Adapter(requests.adapters.HTTPAdapter):
    """The end of a requests session that is a function, no connection."""

    def __init__(
        self,
        answer: collections.abc.Callable[
            [requests.PreparedRequest], requests.Response
        ],
    ) -> None:
        super().__init__()
        self._answer = answer

    def send(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> requests.Response:
        return self._answer(request)


def _session(
    answer: collections.abc.Callable[
        [requests.PreparedRequest], requests.Response
    ],
) -> requests.Session:
    session = requests.Session()
    # No proxy, netrc or certificate of this machine has a say here.
    session.trust_env = False
    session.mount(URL, _Adapter(answer))
    return session


def _read(sent: requests.PreparedRequest) -> Request:
    body = _bytes(sent.body)
    _, _, microversion = sent.headers.get(
        'OpenStack-API-Version', ''
    ).partition(' ')
    return Request(
        method=str(sent.method),
        path=sent.path_url,
        body=json.loads(body) if body else None,
        microversion=microversion or None,
    )


def _matches(match: Match, request: Request) -> bool:
    if isinstance(match, str):
        return fnmatch.fnmatchcase(str(request), match)
    return match(request)


def _response(
    sent: requests.PreparedRequest,
    status: int,
    content: bytes,
    headers: collections.abc.Iterable[tuple[str, str]] = (
        ('Content-Type', 'application/json'),
    ),
) -> requests.Response:
    raw = urllib3.HTTPResponse(
        body=io.BytesIO(content),
        headers=urllib3.HTTPHeaderDict(headers),
        status=status,
        preload_content=False,
        request_method=sent.method,
    )
    return requests.adapters.HTTPAdapter().build_response(sent, raw)


def _error_body(status: int) -> Body:
    return {'errors': [{'status': status, 'detail': 'injected by the test'}]}


def _encode(body: Body) -> bytes:
    if isinstance(body, str | bytes):
        return _bytes(body)
    return b'' if body is None else json.dumps(body).encode()


def _bytes(body: str | bytes | None) -> bytes:
    return body.encode() if isinstance(body, str) else body or b''


class Slot:
    """Holds the process's one in-process placement while nobody else does."""

    def __init__(self) -> None:
        self._placement: InProcessPlacement | None = None
        self._empty = b''

    def take(self) -> InProcessPlacement:
        """Return it fresh; built on the first call."""
        if self._placement is None:
            self._placement = InProcessPlacement()
            self._empty = self._placement.empty
        self._placement.reset()
        return self._placement

    def empty_database(self) -> bytes:
        """Return the file of a placement that has no provider yet.

        To start from it is quicker than to make each table anew.
        """
        if not self._empty:
            self.take()
            self.free()
        return self._empty

    def free(self) -> None:
        """Make room for another placement in this process."""
        if self._placement is not None:
            self._placement.close()
        self._placement = None


@pytest.fixture(scope='session')
def _placement_slot() -> collections.abc.Iterator[Slot]:
    slot = Slot()
    yield slot
    slot.free()


@pytest.fixture
def placement_slot(_placement_slot: Slot) -> Slot:
    """The process has no placement, and the test may make one."""
    _placement_slot.free()
    return _placement_slot


@pytest.fixture
def placement(
    _placement_slot: Slot,
) -> collections.abc.Iterator[InProcessPlacement]:
    """A fresh real placement, reached through ``placement.session``."""
    placement = _placement_slot.take()
    yield placement
    placement.mend()


@pytest.fixture
def patient_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stops waits for its threads, on however busy a machine.

    After less than a second it would go on, with a thread that still serves.
    """
    wsgi_thread = importlib.import_module('compute_agent.dev.wsgi_thread')
    monkeypatch.setattr(wsgi_thread, '_STOP_SECONDS', 60)


@pytest.fixture
def placement_server(
    placement_slot: Slot, patient_stops: None, tmp_path: typing.Any
) -> collections.abc.Iterator[typing.Any]:
    """A fresh ``EmbeddedPlacement`` on a free port, started."""
    embedded = importlib.import_module('compute_agent.dev.embedded_placement')
    database = tmp_path / 'placement.sqlite'
    database.write_bytes(placement_slot.empty_database())
    with embedded.EmbeddedPlacement(database, port=0) as server:
        yield server
