# SPDX-License-Identifier: Apache-2.0
"""A real Ironic on this machine, for the demo and the tests.

API and conductor are one process at 127.0.0.1, with fake hardware and an
SQLite file. Ironic is installed in an environment of its own (``make
.servers/ironic.stamp``), so nothing of it is imported here. Only the demo and
the tests start it.
"""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time
import typing

import requests

from compute_agent import errors

from . import ironic_directory, ironic_settings, server_process

VARIABLE = 'COMPUTE_AGENT_IRONIC'
PROGRAM = pathlib.Path('.servers', 'ironic', 'bin', 'ironic')
HOST = '127.0.0.1'
PATIENCE = 180.0  # seconds in which the server must answer

_LOG = 'ironic.log'
_CONF = 'ironic.conf'


def installed(checkout: pathlib.Path = pathlib.Path()) -> pathlib.Path:
    """Return the path of the program; it may not exist.

    The environment variable names it; the default is in the checkout.
    """
    named = os.environ.get(VARIABLE)
    return pathlib.Path(named) if named else checkout / PROGRAM


class LocalIronic:
    """An Ironic that runs between ``start`` and ``stop``.

    As a context manager, it starts on entry and stops on exit. Its nodes stay
    in its directory, for the next start there.
    """

    def __init__(
        self,
        directory: pathlib.Path,
        port: int = 0,
        program: pathlib.Path | None = None,
        *,
        htpasswd: str | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Store the arguments; open nothing yet.

        :param directory: created if missing
        :param port: 0 takes a free port, which ``url`` then has
        :param program: ``ironic``, with ``ironic-dbsync`` beside it
        :param htpasswd: lines of NAME:BCRYPT_HASH; without them, every client
            is an administrator
        :param patience: the longest time to start, in seconds
        """
        self._directory = directory.absolute()
        self._port = port
        self._bound_port = port
        self._program = program or installed()
        self._htpasswd = htpasswd
        self._patience = patience
        self._undo = contextlib.ExitStack()
        self._pid = 0

    @property
    def pid(self) -> int:
        """The process of the server; its descendants do the work."""
        return self._pid

    @property
    def url(self) -> str:
        """The endpoint, as in ``[ironic] endpoint_override``."""
        return f'http://{HOST}:{self._bound_port}'

    @property
    def log(self) -> pathlib.Path:
        """The log of the server; it has a line for each request."""
        return self._directory / _LOG

    @property
    def database(self) -> pathlib.Path:
        """The SQLite file of the server."""
        return self._directory / ironic_settings.DATABASE

    def start(self) -> None:
        """Start the server; return when it answers requests.

        :raises errors.ConfigError: Ironic is not installed or does not start,
            the port is in use, or the directory is unusable or in use
        """
        program = _executable(self._program)
        dbsync = _executable(program.with_name('ironic-dbsync'))
        with contextlib.ExitStack() as undo:
            lock = undo.enter_context(ironic_directory.lock(self._directory))
            self._bound_port = _free_port(self._port)
            self._configure()
            self._create_schema(dbsync)
            process = undo.enter_context(
                server_process.running(
                    [str(program), '--config-file', _CONF],
                    self._directory / _LOG,
                    keep=[lock],
                )
            )
            self._wait(process)
            self._pid = process.pid
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Stop the server; return when its process has ended."""
        self._undo.close()

    def __enter__(self) -> typing.Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def _configure(self) -> None:
        settings = ironic_settings.text(
            self._bound_port, http_basic=self._htpasswd is not None
        )
        (self._directory / _CONF).write_text(settings)
        if self._htpasswd is not None:
            users = self._directory / ironic_settings.HTPASSWD
            users.write_text(self._htpasswd)

    def _create_schema(self, dbsync: pathlib.Path) -> None:
        """Create the tables, unless all of them exist."""
        if ironic_directory.has_schema(self.database):
            return
        self.database.unlink(missing_ok=True)
        server_process.run(
            [str(dbsync), '--config-file', _CONF, 'create_schema'],
            self._directory / _LOG,
            self._patience,
        )

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._patience
        while not _answers(self.url):
            code = process.poll()
            if code is None and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            problem = (
                f'does not answer at {self.url} within {self._patience:.0f} s'
                if code is None
                else f'ended with {code} before it answered'
            )
            last = server_process.last_error(self._directory / _LOG)
            raise errors.ConfigError(f'{self._program} {problem}; {last}')


def _executable(program: pathlib.Path) -> pathlib.Path:
    found = shutil.which(program)
    if found is None:
        raise errors.ConfigError(
            f'no Ironic is installed here: the program {program} does not '
            'exist; run "make .servers/ironic.stamp" to install it, or set '
            f'the variable {VARIABLE} to another program'
        )
    return pathlib.Path(found).absolute()


def _free_port(wanted: int) -> int:
    try:
        with socket.create_server((HOST, wanted)) as listener:
            port: int = listener.getsockname()[1]
    except OSError as exc:
        raise errors.ConfigError(
            f'Ironic cannot listen at {HOST} port {wanted}: '
            f'{os.strerror(exc.errno or 0)}; stop the process that uses it, '
            'or choose another port'
        ) from exc
    return port


def _answers(url: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False  # no proxy for the loopback
        try:
            document = session.get(url, timeout=5).json()
        except requests.RequestException:
            return False
    return 'Ironic' in str(document)
