# SPDX-License-Identifier: Apache-2.0
"""A fresh real placement for a test, in process and without a socket.

A pytest plugin: ``placement`` is the fixture most tests want, and
``placement_server`` the same service behind a port. A process has one placement
at a time, which is built once and emptied for each test; ``placement_slot``
makes room for a test that builds another by itself.
"""

import collections.abc
import contextlib
import importlib
import socket
import sqlite3
import typing
from wsgiref import types

import pytest

from compute_agent import testing
from compute_agent.testing.fixtures import application, in_process

Before: typing.TypeAlias = collections.abc.Callable[
    [types.WSGIApplication], types.WSGIApplication
]


class ServedPlacement:
    """The placement of this process, behind ports.

    :ivar url: its endpoint
    :ivar operator: a session that asks it without a connection, at
        ``in_process.URL``; it does so after ``stop``, too
    """

    def __init__(self, lent: application.Application) -> None:
        self._lent = lent
        self._open = contextlib.ExitStack()
        self.operator = in_process.session(lent.ask)
        self.save, self.restore = lent.save, lent.restore
        self.url = self.listen()

    def listen(self, port: int = 0, before: Before | None = None) -> str:
        """Serve it at one more port; return the endpoint.

        :param before: makes an application that sees each request of this
            port first
        """
        wsgi_thread = importlib.import_module('compute_agent.dev.wsgi_thread')
        listener = socket.create_server(('127.0.0.1', port))
        served = before(self._lent) if before else self._lent
        server = wsgi_thread.WsgiThread(served, listener)
        self._open.callback(server.stop)
        return f'http://127.0.0.1:{listener.getsockname()[1]}'

    @contextlib.contextmanager
    def database(self) -> collections.abc.Iterator[sqlite3.Connection]:
        """Lend a copy of the database, which then takes its place."""
        with contextlib.closing(sqlite3.connect(':memory:')) as copy:
            copy.deserialize(self._lent.save())
            with copy:
                yield copy
            self._lent.restore(copy.serialize())

    def stop(self) -> None:
        """Close all ports; the contents stay."""
        self._open.close()


@pytest.fixture(scope='session', autouse=True)
def _placement_slot(
    no_leaks_of_pools: None,
) -> collections.abc.Iterator[None]:
    """Some tests make a placement without the fixtures; it is kept, too."""
    yield
    application.free()


@pytest.fixture
def placement_slot(_placement_slot: None) -> None:
    """The process has no placement, and the test may make one."""
    application.free()


@pytest.fixture
def placement(
    _placement_slot: None,
) -> collections.abc.Iterator[testing.Placement]:
    """A fresh real placement, reached through ``placement.session``."""
    with testing.Placement() as placement:
        yield placement


@pytest.fixture
def patient_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stops waits for its threads, on however busy a machine.

    After less than a second it would go on, with a thread that still serves.
    """
    wsgi_thread = importlib.import_module('compute_agent.dev.wsgi_thread')
    monkeypatch.setattr(wsgi_thread, '_STOP_SECONDS', 60)


@pytest.fixture
def placement_server(
    _placement_slot: None, patient_stops: None
) -> collections.abc.Iterator[ServedPlacement]:
    """A fresh real placement on a free port."""
    with application.lend() as lent:
        server = ServedPlacement(lent)
        yield server
        server.stop()
