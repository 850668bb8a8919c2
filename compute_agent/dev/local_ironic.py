# SPDX-License-Identifier: Apache-2.0
"""A real Ironic of our own, for the demo and the tests.

API and conductor are one process at 127.0.0.1, with fake hardware, on an
SQLite file. Its packages are its own business: it is a program of another
environment (``make .servers/ironic.stamp``) and nothing of it is imported
here. ``compute-agent demo ironic`` and the tests start it; nothing else may.
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

from .. import errors
from . import ironic_directory, ironic_settings, server_process

VARIABLE = 'COMPUTE_AGENT_IRONIC'
PROGRAM = pathlib.Path('.servers', 'ironic', 'bin', 'ironic')
HOST = '127.0.0.1'
PATIENCE = 60.0  # seconds until a server that does not answer has failed

_LOG = 'ironic.log'
_CONF = 'ironic.conf'


def installed(checkout: pathlib.Path = pathlib.Path()) -> pathlib.Path:
    """Return the program to start, whether or not it is there.

    It is the one that the environment names, else the checkout's.
    """
    named = os.environ.get(VARIABLE)
    return pathlib.Path(named) if named else checkout / PROGRAM


class LocalIronic:
    """An Ironic that lives as long as this object is started.

    A context manager: entering starts it, leaving stops it. What it holds
    stays in its directory, for the next start there.
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
        """Remember; nothing is opened yet.

        :param directory: made where missing
        :param port: 0 takes any that is free; ``url`` then tells which
        :param program: ``ironic``, with ``ironic-dbsync`` beside it
        :param htpasswd: lines of NAME:BCRYPT_HASH; without them whoever
            reaches the port is its administrator
        :param patience: seconds it may take to start
        """
        self._directory = directory.absolute()
        self._port = port
        self._bound_port = port
        self._program = program or installed()
        self._htpasswd = htpasswd
        self._patience = patience
        self._undo = contextlib.ExitStack()

    @property
    def url(self) -> str:
        """The endpoint, as ``[ironic] endpoint_override`` wants it."""
        return f'http://{HOST}:{self._bound_port}'

    @property
    def database(self) -> pathlib.Path:
        """The SQLite file that it works on."""
        return self._directory / ironic_settings.DATABASE

    def start(self) -> None:
        """Return when requests are answered.

        :raises errors.ConfigError: it is not installed or does not start,
            the port is taken, or the directory is unusable or in use
        """
        program = _executable(self._program)
        dbsync = _executable(program.with_name('ironic-dbsync'))
        with contextlib.ExitStack() as undo:
            lock = undo.enter_context(ironic_directory.held(self._directory))
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
            self._undo = undo.pop_all()

    def stop(self) -> None:
        """Return when its process is gone."""
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
        """Make the tables, unless they are there, all of them."""
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
            how = (
                f'does not answer at {self.url} within {self._patience:.0f} s'
                if code is None
                else f'ended with {code} before it answered'
            )
            said = server_process.complaint(self._directory / _LOG)
            raise errors.ConfigError(f'{self._program} {how}; {said}')


def _executable(program: pathlib.Path) -> pathlib.Path:
    found = shutil.which(program)
    if found is None:
        raise errors.ConfigError(
            f'no Ironic is installed here: there is no program {program}; '
            '"make .servers/ironic.stamp" installs one, and the variable '
            f'{VARIABLE} names another'
        )
    return pathlib.Path(found).absolute()


def _free_port(wanted: int) -> int:
    try:
        with socket.create_server((HOST, wanted)) as listener:
            port: int = listener.getsockname()[1]
    except OSError as exc:
        raise errors.ConfigError(
            f'Ironic cannot listen at {HOST} port {wanted}: '
            f'{os.strerror(exc.errno or 0)}; stop its user, or take another'
        ) from exc
    return port


def _answers(url: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False  # no proxy stands before the loopback
        try:
            document = session.get(url, timeout=5).json()
        except requests.RequestException:
            return False
    return 'Ironic' in str(document)
