# SPDX-License-Identifier: Apache-2.0
"""Whoever opens a database or a listening socket closes it, in each test.

A pytest plugin. Python before 3.13 says nothing about an SQLite connection
that is dropped unclosed, and later ones say it when the garbage collector finds
it, often in another test. So the interpreter's audit events tell of each
connection and each bound socket, and a test that leaves one open fails, with
the place that opened it, on each version.

A pool of SQLAlchemy's opens its connections when it needs them and closes them
when its owner ends, which may be the whole run's; they are examined at its end.
"""

import collections.abc
import dataclasses
import os
import pathlib
import socket
import sqlite3
import sys
import time
import types
import typing
import weakref

import pytest

# Seconds for a server's thread to close its sockets; only a leak takes as long.
PATIENCE = float(os.environ.get('COMPUTE_AGENT_LEAK_SECONDS', '60'))
_ROOT = pathlib.Path(__file__).parents[2]
_LIBRARY = ('site-packages', '/lib/python3')


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """A connection or a socket, and who opened it."""

    text: str
    is_open: collections.abc.Callable[[], bool]
    is_pooled: bool = False
    is_socket: bool = False


_opened: list[_Opened] = []
_FAILED = pytest.StashKey[bool]()


def _hear(event: str, values: tuple[typing.Any, ...]) -> None:
    """Note a resource that is opened."""
    if event == 'sqlite3.connect/handle':
        _note_connection(values[0])
    elif event == 'socket.bind':
        _note_socket(values[0])


def _note_connection(connection: sqlite3.Connection) -> None:
    def is_open() -> bool:
        try:
            return connection.total_changes >= 0
        except sqlite3.ProgrammingError:
            return False

    places = list(_places())
    _opened.append(
        _Opened(
            f'a connection to SQLite, opened at {_ours(places)}',
            is_open,
            is_pooled=any('/sqlalchemy/pool/' in place for place in places),
        )
    )


def _note_socket(bound: socket.socket) -> None:
    # A strong reference would keep a socket open that the test has dropped;
    # Python's own ResourceWarning tells of that.
    found = weakref.ref(bound)

    def is_open() -> bool:
        still = found()
        return still is not None and still.fileno() != -1

    text = f'a bound socket, opened at {_ours(list(_places()))}'
    _opened.append(_Opened(text, is_open, is_socket=True))


def _places() -> collections.abc.Iterator[str]:
    """Yield the file and line of each frame, the innermost first."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        yield f'{frame.f_code.co_filename}:{frame.f_lineno}'
        frame = frame.f_back


def _ours(places: list[str]) -> str:
    """Return the innermost places of this project."""
    ours = [p for p in places if not any(part in p for part in _LIBRARY)]
    return ' < '.join(p.removeprefix(f'{_ROOT}/') for p in ours[1:6])


def _left(*, pooled: bool | None = None) -> list[_Opened]:
    """Return what is open, of pools or not."""
    return [
        one
        for one in _opened
        if pooled in (None, one.is_pooled) and one.is_open()
    ]


def _fail_if_open(found: list[_Opened]) -> None:
    """Wait for servers whose threads are about to close them, then fail."""
    served = [one for one in found if one.is_socket]
    until = time.monotonic() + PATIENCE
    while any(one.is_open() for one in served) and time.monotonic() < until:
        time.sleep(0.01)
    leaked = [one.text for one in found if one.is_open()]
    if leaked:
        pytest.fail('left open:\n' + '\n'.join(leaked), pytrace=False)


sys.addaudithook(_hear)


@pytest.fixture(scope='session', autouse=True)
def no_leaks_of_pools() -> collections.abc.Iterator[None]:
    """The run leaves no connection of a pool open."""
    yield
    found = _left(pooled=True)
    _opened.clear()
    _fail_if_open(found)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> None:
    """Note a test that fails: what it leaves open is a consequence."""
    if call.when == 'call' and call.excinfo is not None:
        item.stash[_FAILED] = True


@pytest.fixture(autouse=True)
def no_leaks(
    request: pytest.FixtureRequest,
) -> collections.abc.Iterator[None]:
    """A test that passes closes what it and its fixtures opened."""
    before = set(_opened)
    yield
    found = [one for one in _left(pooled=False) if one not in before]
    _opened[:] = [one for one in _left() if one not in found]
    if _FAILED not in request.node.stash:
        _fail_if_open(found)
