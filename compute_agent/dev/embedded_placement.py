# SPDX-License-Identifier: Apache-2.0
"""The real placement service, embedded: for a laptop, a demo and the tests.

It serves openstack-placement from an SQLite file at a loopback address, in a
thread of this process. With ``noauth2``, every client is an administrator. A
process can have only one, with one worker, because placement on SQLite answers
500 to concurrent writers. Only ``compute-agent run``, ``placement serve`` and
the demo start it.

Before placement opens the SQLite file, this module creates it with private
permissions, locks out a second process, and reports a damaged file in one
line; placement itself would raise a traceback, or answer each request with
500. It knows only two of placement's table names, and writes no row.
"""

import contextlib
import errno
import fcntl
import ipaddress
import os
import pathlib
import socket
import sqlite3
import typing
from collections.abc import Iterator

from urllib3 import connection

from .. import errors, extras, forks, private_files
from . import proof

_TABLES = frozenset({'alembic_version', 'resource_providers'})


@contextlib.contextmanager
def lock(path: pathlib.Path) -> Iterator[None]:
    """Lock the file for one embedded placement; create it if missing.

    :raises errors.ConfigError: the file cannot be written, is in use by
        another process, or is not a placement database
    """
    with contextlib.ExitStack() as undo:
        try:
            private_files.make_directory(path.parent)
            _take_lock(path, undo)
            _make_private(path)
        except OSError as exc:
            raise errors.ConfigError(
                f'the placement database {path} cannot be written: '
                f'{exc.strerror}; set state_path to a writable directory'
            ) from exc
        _check(path)
        yield


def _take_lock(path: pathlib.Path, undo: contextlib.ExitStack) -> None:
    """Lock a separate file: SQLite has its own locks on the database."""
    lock_file = path.with_name(f'{path.name}.lock')
    descriptor = private_files.open_file(lock_file)
    undo.callback(os.close, descriptor)
    undo.enter_context(forks.closed_in_child(descriptor))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        raise errors.ConfigError(
            f'the placement database {path} is in use by another embedded '
            'placement: stop that one, or set another state_path'
        ) from exc


def _make_private(path: pathlib.Path) -> None:
    """Create the file if missing; SQLite's side files get its mode."""
    os.close(private_files.open_file(path))


def _check(path: pathlib.Path) -> None:
    """Check the whole file, and switch to WAL, which allows readers."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            (verdict,) = connection.execute('PRAGMA quick_check(1)').fetchone()
            tables = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
            if verdict == 'ok' and (not tables or tables >= _TABLES):
                connection.execute('PRAGMA journal_mode = WAL')
                return
    except sqlite3.OperationalError as exc:
        raise errors.ConfigError(
            f'the placement database {path} cannot be used: {exc}'
        ) from exc
    except sqlite3.DatabaseError as exc:
        verdict, tables = str(exc), set()
    problem = 'damaged' if verdict != 'ok' else 'not a placement database'
    reason = verdict if verdict != 'ok' else 'it has other tables'
    raise errors.ConfigError(
        f'the file {path} is {problem} ({reason}): move it away, or set '
        'another state_path'
    )


DEFAULT_HOST = '127.0.0.1'
DEFAULT_PORT = 8778


class EmbeddedPlacement:
    """A placement service that runs between ``start`` and ``stop``.

    As a context manager, it starts on entry and stops on exit. It can be
    started again after ``stop``, and then has the same contents.
    """

    def __init__(
        self,
        database: pathlib.Path,
        host: str = DEFAULT_HOST,
        port: int = DEFAULT_PORT,
    ) -> None:
        """Check the address; open nothing yet.

        :param database: the file; it is created with its directory if missing
        :param host: a loopback address
        :param port: 0 takes a free port, which ``url`` then has
        :raises errors.ConfigError: other machines could reach the address
        """
        self._database = database
        self._address = _loopback(host)
        self._port = port
        self._bound_port = port
        self._undo = contextlib.ExitStack()

    @property
    def url(self) -> str:
        """The endpoint, as in ``[placement] endpoint_override``."""
        host = str(self._address)
        if self._address.version == 6:
            host = f'[{host}]'
        return f'http://{host}:{self._bound_port}'

    def start(self) -> None:
        """Start the service; return when it answers requests.

        :raises errors.ConfigError: a package is missing, the address is in
            use, the database is unusable, or the process already has one
        """
        try:
            # Imported late: they need an extra, and take most of a second.
            from . import placement_app, wsgi_thread  # noqa: PLC0415
        except ImportError as exc:
            package = (exc.name or str(exc)).partition('.')[0]
            raise errors.ConfigError(
                f'the embedded placement needs {package}: '
                f'{extras.advice("embedded")}'
            ) from exc
        with contextlib.ExitStack() as undo:
            listener = undo.enter_context(self._listen())
            undo.enter_context(forks.closed_in_child(listener.fileno()))
            undo.enter_context(lock(self._database))
            application = placement_app.create_app(
                placement_app.sqlite_url(self._database)
            )
            undo.callback(placement_app.release)
            port = listener.getsockname()[1]
            proving = proof.ProvingApplication(
                application, self._new_secret(), port
            )
            server = wsgi_thread.WsgiThread(proving, listener)
            undo.callback(server.stop)
            self._bound_port = port
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Stop the service, within a second; free the port and the database."""
        self._undo.close()

    def __enter__(self) -> typing.Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def check(self, opened: connection.HTTPConnection) -> None:
        """Check that the service behind a new connection has this database.

        :raises errors.Unavailable: another service answers there
        :raises OSError: the connection failed
        """
        proof.check(self._database, opened)

    def _new_secret(self) -> str:
        path = proof.secret_file(self._database)
        try:
            return proof.make_secret(path)
        except OSError as exc:
            raise errors.ConfigError(
                f'the file {path} cannot be written: {exc.strerror}; set '
                'state_path to a writable directory'
            ) from exc

    def _listen(self) -> socket.socket:
        family = (
            socket.AF_INET6 if self._address.version == 6 else socket.AF_INET
        )
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((str(self._address), self._port))
            # Only listen() fails if another process listens on the port.
            listener.listen()
        except OSError as exc:
            listener.close()
            raise errors.ConfigError(
                f'placement cannot listen at {self._address} port '
                f'{self._port}: {_listen_problem(exc)}'
            ) from exc
        return listener


def _loopback(
    host: str,
) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address(
            DEFAULT_HOST if host == 'localhost' else host
        )
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise errors.ConfigError(
            f'the embedded placement cannot listen at {host!r}: every client '
            'is an administrator, so use 127.0.0.1 or another loopback '
            'address'
        )
    return address


def _listen_problem(exc: OSError) -> str:
    if exc.errno == errno.EADDRINUSE:
        return (
            'the port is in use; stop the process that uses it, or set '
            'another port in [placement] embedded_port'
        )
    return os.strerror(exc.errno) if exc.errno else str(exc)
