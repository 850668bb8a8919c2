# SPDX-License-Identifier: Apache-2.0
"""Three MariaDB servers that are one Galera cluster.

Each takes writes. Two transactions of two servers that change the same row
meet when they commit: one of them fails. A server that sees less than half of
the cluster (``isolated``) takes neither reads nor writes.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence

import openstack_server
import pymysql

from demo import server_process

from . import USER, folder, no_processor, wait_for

_PROVIDER = pathlib.Path('/usr/lib/galera/libgalera_smm.so')
_PROGRAMS = ('mariadbd', 'mariadb-install-db', 'wsrep_sst_rsync', 'rsync')
MISSING = (
    'MariaDB with Galera and rsync is needed; on Debian, "apt-get install '
    '$(make database-packages)" installs it'
)
SIZE = 3
_LIMIT = 120.0
_FILES = (
    '--innodb-log-file-size=8M',
    '--innodb-data-file-path=ibdata1:4M:autoextend',
)
# Small, and nothing waits for the disk: only the program crashes here.
_SETTINGS = (
    *('--innodb-buffer-pool-size=24M', '--innodb-flush-log-at-trx-commit=0'),
    *(
        '--performance-schema=OFF',
        '--max-connections=60',
        '--skip-name-resolve',
    ),
    *('--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-on=ON'),
    f'--wsrep-provider={_PROVIDER}',
    *('--wsrep-sst-method=rsync', '--wsrep-node-address=127.0.0.1'),
    '--bind-address=127.0.0.1',
)
_PROVIDER_OPTIONS = {
    'gcache.size': '8M',
    'evs.keepalive_period': 'PT0.5S',
    'evs.suspect_timeout': 'PT3S',
    'evs.inactive_timeout': 'PT6S',
    'evs.install_timeout': 'PT6S',
    'pc.recovery': 'false',
}


class Node:
    """One server of the cluster."""

    def __init__(self, directory: pathlib.Path, number: int) -> None:
        self.directory = directory
        self.name = f'node{number}'
        self.port, self.group, self._changes, self._copy = (
            openstack_server.steady_port() for _ in range(4)
        )
        self._life = contextlib.ExitStack()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> pathlib.Path:
        """The server's log."""
        return self.directory / f'{self.name}.log'

    @property
    def data(self) -> pathlib.Path:
        """The directory of its data."""
        return self.directory / self.name

    def start(self, others: Sequence[int]) -> None:
        """Begin it; the first has no others."""
        cluster = ','.join(f'127.0.0.1:{port}' for port in others)
        options = _PROVIDER_OPTIONS | {
            'base_port': str(self.group),
            'gmcast.listen_addr': f'tcp://127.0.0.1:{self.group}',
            'ist.recv_addr': f'127.0.0.1:{self._changes}',
        }
        words = [
            *_as_server('mariadbd', '--no-defaults', *_FILES, *_SETTINGS),
            f'--datadir={self.data}',
            f'--port={self.port}',
            f'--socket={self.directory / self.name}.socket',
            f'--pid-file={self.directory / self.name}.pid',
            f'--wsrep-cluster-address=gcomm://{cluster}',
            f'--wsrep-node-name={self.name}',
            f'--wsrep-sst-receive-address=127.0.0.1:{self._copy}',
            '--wsrep-provider-options='
            + ';'.join(f'{k}={v}' for k, v in options.items()),
        ]
        self.process = self._life.enter_context(
            server_process.running(words, self.log)
        )

    def end(self) -> None:
        """End it."""
        self._life.close()

    def wait(self) -> None:
        """Wait until it takes statements."""
        wait_for(self.is_ready, f'{self.name}: {self.log}')

    def is_ready(self) -> bool:
        """Return True if it is a synced member of the primary component."""
        assert self.process
        assert self.process.poll() is None, server_process.last_error(self.log)
        with contextlib.suppress(pymysql.Error):
            return self.status('wsrep_local_state_comment') == 'Synced' and (
                self.status('wsrep_ready') == 'ON'
            )
        return False

    def committed(self) -> int:
        """Return the number of the last transaction that it has."""
        return int(self.status('wsrep_last_committed'))

    def status(self, name: str) -> str:
        """Return a status variable of the server."""
        ((_, value),) = self.rows(f"show status like '{name}'")
        return str(value)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        """Execute a statement as root; return its rows."""
        opened = pymysql.connect(
            host='127.0.0.1', port=self.port, user='root', autocommit=True
        )
        with contextlib.closing(opened), opened.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())


class Galera:
    """A cluster of three.

    :ivar nodes: its servers
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.nodes = [Node(directory, number) for number in range(SIZE)]

    def start(self) -> None:
        """Start all; return when all are members."""
        first, *others = self.nodes
        _make_data(first)
        first.start(())
        first.wait()
        for statement in (
            f"create user {USER} identified by '{USER}'",
            f'grant all on *.* to {USER}',
        ):
            first.rows(statement)
        ports = [node.group for node in self.nodes]
        for node in others:
            _make_directory(node.data)
            node.start(ports)
        for node in others:
            node.wait()

    def end(self) -> None:
        """End all at once."""
        with concurrent.futures.ThreadPoolExecutor(SIZE) as pool:
            list(pool.map(Node.end, self.nodes))

    def new_database(self, name: str) -> None:
        """Make an empty database; an existing one is replaced."""
        self.nodes[0].rows(f'drop database if exists {name}')
        self.nodes[0].rows(f'create database {name}')

    def wait_for_all(self) -> None:
        """Wait until each server is a member and has what was committed."""
        for node in self.nodes:
            node.wait()
        end = max(node.committed() for node in self.nodes)
        wait_for(
            lambda: all(node.committed() >= end for node in self.nodes),
            'each server has all',
        )

    def url(self, name: str, at: tuple[str, int] | None = None) -> str:
        """Return SQLAlchemy's URL of a database."""
        host, port = at or self.address()
        return f'mysql+pymysql://{USER}:{USER}@{host}:{port}/{name}'

    def address(self, number: int = 0) -> tuple[str, int]:
        """Return host and port of a server."""
        return '127.0.0.1', self.nodes[number % SIZE].port

    def kill_sessions(
        self, name: str, ports: Collection[int] | None = None
    ) -> int:
        """End sessions in a database at all servers; return how many.

        :param ports: those of the clients; all by default
        """
        query = (
            'select id, host from information_schema.processlist '
            f"where db='{name}'"
        )
        ended = 0
        for node in self.nodes:
            for number, host in node.rows(query):
                # One that is not yet let in has no port.
                port = str(host).rpartition(':')[2]
                if ports is not None and port not in map(str, ports):
                    continue
                with contextlib.suppress(pymysql.Error):  # it ended itself
                    node.rows(f'kill connection {number}')
                    ended += 1
        return ended

    @contextlib.contextmanager
    def accounts(self, name: str) -> Iterator[None]:
        """Have the accounts "locked" and "guest"."""
        first = self.nodes[0]
        first.rows("create user locked identified by 'unknown'")
        first.rows("create user guest identified by 'secret'")
        first.rows(f'grant select on {name}.* to guest')
        try:
            yield
        finally:
            first.rows('drop user locked, guest')

    @contextlib.contextmanager
    def stopped(self, number: int = 0) -> Iterator[None]:
        """Keep a server from running; the others may go on without it."""
        process = self.nodes[number].process
        assert process
        with no_processor(process.pid):
            yield

    @contextlib.contextmanager
    def isolated(self, number: int) -> Iterator[None]:
        """Part a server from the others; it comes back at the end."""
        node = self.nodes[number]
        option = "set global wsrep_provider_options = 'gmcast.isolate={}'"
        node.rows(option.format(1))
        try:
            wait_for(
                lambda: node.status('wsrep_cluster_status') == 'non-Primary',
                f'{node.name} is alone',
            )
            yield
        finally:
            node.rows(option.format(0))
            self.wait_for_all()


def is_installed() -> bool:
    """Return True if all that a cluster needs is here."""
    return _PROVIDER.exists() and all(map(shutil.which, _PROGRAMS))


@contextlib.contextmanager
def running() -> Iterator[Galera]:
    """Yield a cluster; it ends on exit."""
    with folder('mysql') as made:
        cluster = Galera(made)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.end()


def _make_data(node: Node) -> None:
    """Make the data of the first server; the others copy them."""
    made = _as_server('mariadb-install-db', '--no-defaults', *_FILES)
    made += ['--auth-root-authentication-method=normal', '--skip-test-db']
    words = [*made, f'--datadir={node.data}']
    server_process.run(words, node.directory / 'install.log', _LIMIT)


def _make_directory(data: pathlib.Path) -> None:
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        shutil.chown(data, 'mysql', 'mysql')


def _as_server(*words: str) -> list[str]:
    """Return a command, which root gives to the server's user."""
    if os.geteuid() != 0:
        return list(words)
    user = ('--reuid=mysql', '--regid=mysql', '--clear-groups')
    return ['setpriv', *user, '--pdeathsig=TERM', '--', *words]
