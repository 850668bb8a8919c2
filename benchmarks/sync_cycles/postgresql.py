# SPDX-License-Identifier: Apache-2.0
"""A temporary PostgreSQL server, in a directory of its own.

It never runs as root: if root starts it, it runs as ``postgres`` or
``nobody``. It does not sync to disk, so that the speed of the disk does not
matter.
"""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

WORKERS = 2
READY = 60  # seconds in which it must answer
MISSING = (
    'PostgreSQL is needed (initdb, postgres, psql): apt-get install '
    'postgresql, or measure on SQLite with --databases sqlite'
)
_LINES = ('-v', 'ON_ERROR_STOP=1', '-qAtX')


class PostgreSQL:
    """A running server; statements are executed by ``psql``."""

    workers = WORKERS

    def __init__(self, programs: pathlib.Path, port: int, pid: int) -> None:
        self._programs = programs
        self._psql = str(programs / 'psql')
        self.port = port
        self.pid: int | None = pid

    def create(self, name: str) -> None:
        """Create an empty database; an existing one is replaced."""
        self._replace(name, 'template0')

    def copy(self, source: str, target: str) -> None:
        """Copy a database, after ending its sessions."""
        self.rows(
            'postgres',
            'select pg_terminate_backend(pid, 10000) from pg_stat_activity '  # noqa: S608
            f"where datname = '{source}'",
        )
        self._replace(target, source)

    def url(self, name: str) -> str:
        """Return the URL of a database, for placement."""
        return f'postgresql+psycopg2://bench@127.0.0.1:{self.port}/{name}'

    def run(self, name: str, sql: str) -> None:
        """Execute statements."""
        self.rows(name, sql)

    def rows(self, name: str, query: str) -> Sequence[str]:
        """Return the rows, with ``|`` between the columns."""
        where = (*_where(self.port), '-U', 'bench', name)
        asked = subprocess.run(  # noqa: S603
            [self._psql, *_LINES, *where],
            input=query,
            check=True,
            capture_output=True,
            text=True,
        )
        return asked.stdout.splitlines()

    def make_standby(self, folder: pathlib.Path) -> None:
        """Put the data of a standby, which streams from here, in a folder."""
        data = _empty(folder)
        words = [str(self._programs / 'pg_basebackup'), '-D', str(data), '-R']
        words += ['-c', 'fast', '-U', 'bench', *_where(self.port)]
        subprocess.run(words, check=True, cwd='/', **_unprivileged())  # noqa: S603

    def _replace(self, name: str, template: str) -> None:
        self.run('postgres', f'drop database if exists {name} with (force)')
        self.run('postgres', f'create database {name} template {template}')


@contextlib.contextmanager
def temporary(port: int) -> Iterator[tuple[pathlib.Path, PostgreSQL]]:
    """Yield a folder that ends with the context, and a server with data in it.

    :raises SystemExit: PostgreSQL is not installed
    """
    with contextlib.ExitStack() as stack:
        made = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = pathlib.Path(stack.enter_context(made))
        folder.chmod(0o755)  # the server's user reaches its data
        yield folder, stack.enter_context(started(folder, port))


@contextlib.contextmanager
def started(
    folder: pathlib.Path, port: int, settings: Mapping[str, object] = {}
) -> Iterator[PostgreSQL]:
    """Yield a server with its data in this folder; end it on exit.

    The data of an earlier server in this folder are kept.

    :param settings: more of the server's settings
    :raises SystemExit: PostgreSQL is not installed
    """
    programs, data = _programs(), folder / 'postgresql'
    with (folder / 'postgresql.log').open('wb') as log:
        # The server's user may have no access to the current directory.
        how: dict[str, Any] = {'stdout': log, 'stderr': log, 'cwd': '/'}
        how.update(_unprivileged())
        if not data.exists():
            _initialise(programs, data, how)
        words = [str(programs / 'postgres'), '-D', str(data)]
        words += _words(data, port, settings)
        process = subprocess.Popen(words, **how)  # noqa: S603
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
    """Create the directory of a server's data."""
    _empty(data.parent)
    words = [str(programs / 'initdb'), '-A', 'trust', '-U', 'bench']
    subprocess.run([*words, '-D', str(data)], check=True, **how)  # noqa: S603


def _empty(folder: pathlib.Path) -> pathlib.Path:
    """Make the directory of a server's data, which its user owns."""
    data = folder / 'postgresql'
    data.mkdir(mode=0o700)
    if user := _unprivileged():
        shutil.chown(data, user['user'], user['group'])
    return data


def _where(port: int) -> tuple[str, ...]:
    return ('-h', '127.0.0.1', '-p', str(port))


def _words(
    data: pathlib.Path, port: int, more: Mapping[str, object]
) -> list[str]:
    settings: dict[str, object] = {
        'port': port,
        'listen_addresses': '127.0.0.1',
        'unix_socket_directories': str(data),
        'fsync': 'off',
        'autovacuum': 'off',  # bench.py says when to analyse
        **more,
    }
    return [w for k, v in settings.items() for w in ('-c', f'{k}={v}')]


def _wait(programs: pathlib.Path, port: int) -> None:
    """Wait until the server answers.

    :raises SystemExit: it does not answer in time
    """
    asked = [str(programs / 'pg_isready'), '-q', *_where(port)]
    deadline = time.monotonic() + READY
    while subprocess.run(asked, check=False).returncode:  # noqa: S603
        if time.monotonic() > deadline:
            raise SystemExit('PostgreSQL does not answer: see its log')
        time.sleep(0.05)


def is_installed() -> bool:
    """Return True if its server programs are here."""
    with contextlib.suppress(SystemExit):
        return bool(_programs())
    return False


def _programs() -> pathlib.Path:
    """Return the directory of the newest installed server programs.

    :raises SystemExit: there are none
    """
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
    """Return the user to run the server as; nothing for the current user."""
    if os.geteuid() != 0:
        return {}
    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get('postgres') or users['nobody']
    return {
        'user': user.pw_name,
        'group': user.pw_gid,
        'extra_groups': (),
    }
