# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of our own, in a directory that goes with it.

It never runs as root: started by root it is the user ``postgres``, or
``nobody``. Nothing is synced to the disk, so that a slow disk measures nothing.
"""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any

WORKERS = 2
READY = 60  # seconds it has to answer
MISSING = (
    'PostgreSQL is needed (initdb, postgres, psql): apt-get install '
    'postgresql, or measure on SQLite with --databases sqlite'
)
_LINES = ('-v', 'ON_ERROR_STOP=1', '-qAtX')


class PostgreSQL:
    """A running server; what it was asked for goes by ``psql``."""

    workers = WORKERS

    def __init__(self, programs: pathlib.Path, port: int, pid: int) -> None:
        self._psql = str(programs / 'psql')
        self._port = port
        self.pid: int | None = pid

    def create(self, name: str) -> None:
        """Make an empty database, in place of what was there."""
        self._replace(name, 'template0')

    def copy(self, source: str, target: str) -> None:
        """Make a copy of a database that nobody uses."""
        self.rows(
            'postgres',
            'select pg_terminate_backend(pid, 10000) from pg_stat_activity '  # noqa: S608
            f"where datname = '{source}'",
        )
        self._replace(target, source)

    def url(self, name: str) -> str:
        """Return how placement is to connect to it."""
        return f'postgresql+psycopg2://bench@127.0.0.1:{self._port}/{name}'

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""
        self.rows(name, sql)

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, the columns of each with ``|`` between them."""
        where = (*_where(self._port), '-U', 'bench', name)
        asked = subprocess.run(  # noqa: S603
            [self._psql, *_LINES, *where],
            input=query,
            check=True,
            capture_output=True,
            text=True,
        )
        return asked.stdout.splitlines()

    def _replace(self, name: str, template: str) -> None:
        self.run('postgres', f'drop database if exists {name} with (force)')
        self.run('postgres', f'create database {name} template {template}')


@contextlib.contextmanager
def started(folder: pathlib.Path, port: int) -> Iterator[PostgreSQL]:
    """Give a new server with its data in this folder, and end it.

    :raises SystemExit: it is not installed
    """
    programs, data = _programs(), folder / 'postgresql'
    with (folder / 'postgresql.log').open('wb') as log:
        # Another user may not see the directory we are in.
        how: dict[str, Any] = {'stdout': log, 'stderr': log, 'cwd': '/'}
        how.update(_unprivileged())
        _initialise(programs, data, how)
        process = subprocess.Popen(  # noqa: S603
            [programs / 'postgres', '-D', data, *_settings(data, port)], **how
        )
    with process:
        try:
            server = PostgreSQL(programs, port, process.pid)
            _wait(programs, port)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # sessions end too


def _initialise(
    programs: pathlib.Path, data: pathlib.Path, how: dict[str, Any]
) -> None:
    """Make the directory of a server's data."""
    data.mkdir(mode=0o700)
    if 'user' in how:
        shutil.chown(data, how['user'], how['group'])
    words = [str(programs / 'initdb'), '-A', 'trust', '-U', 'bench']
    subprocess.run([*words, '-D', str(data)], check=True, **how)  # noqa: S603


def _where(port: int) -> tuple[str, ...]:
    return ('-h', '127.0.0.1', '-p', str(port))


def _settings(data: pathlib.Path, port: int) -> list[str]:
    settings = {
        'port': port,
        'listen_addresses': '127.0.0.1',
        'unix_socket_directories': str(data),
        'fsync': 'off',
        'autovacuum': 'off',  # bench.py says when to analyse
    }
    return [w for k, v in settings.items() for w in ('-c', f'{k}={v}')]


def _wait(programs: pathlib.Path, port: int) -> None:
    """Return when the server answers.

    :raises SystemExit: it does not
    """
    asked = [str(programs / 'pg_isready'), '-q', *_where(port)]
    deadline = time.monotonic() + READY
    while subprocess.run(asked, check=False).returncode:  # noqa: S603
        if time.monotonic() > deadline:
            raise SystemExit('PostgreSQL does not start: see its log')
        time.sleep(0.05)


def _programs() -> pathlib.Path:
    """Return the directory of the server's programs, the newest there is."""
    folders = sorted(
        pathlib.Path('/usr/lib/postgresql').glob('*/bin'),
        key=lambda folder: int(folder.parent.name.partition('.')[0]),
        reverse=True,
    )
    if found := shutil.which('initdb'):
        folders.append(pathlib.Path(found).resolve().parent)
    for folder in folders:
        if all((folder / p).exists() for p in ('initdb', 'postgres', 'psql')):
            return folder
    raise SystemExit(MISSING)


def _unprivileged() -> dict[str, Any]:
    """Return which user the server is to be, nothing for our own."""
    if os.geteuid() != 0:
        return {}
    users = {one.pw_name: one for one in pwd.getpwall()}
    user = users.get('postgres') or users['nobody']
    return {
        'user': user.pw_name,
        'group': user.pw_gid,
        'extra_groups': (),
    }
