# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL and a standby that follows it by streaming.

The standby is asynchronous: what it has not received when it is promoted is
lost. ``part`` keeps the next commits from it, ``fail_over`` promotes it, and
``join`` makes a new standby.
"""

import contextlib
import os
import pathlib
import signal
from collections.abc import Collection, Iterator

import openstack_server

from benchmarks.sync_cycles import postgresql

from . import family, folder, no_processor, wait_for

MISSING = (
    'PostgreSQL is needed (initdb, postgres, psql); on Debian, "apt-get '
    'install $(make database-packages)" installs it'
)
_SETTINGS = {
    'max_connections': 60,
    'shared_buffers': '16MB',
    'unix_socket_directories': '',
}


class PostgreSQLPair:
    """A primary and its standby; ``fail_over`` makes the standby primary.

    :ivar primary: takes reads and writes
    :ivar standby: None after it was promoted
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self._directory = directory
        self._lives: list[
            tuple[postgresql.PostgreSQL, contextlib.ExitStack]
        ] = []

    def start(self) -> None:
        """Start both."""
        self.primary = self._started()
        self.primary.run('postgres', 'create role agent superuser login')
        self.standby: postgresql.PostgreSQL | None = None
        self.join()

    def end(self) -> None:
        """End both."""
        while self._lives:
            self._crash(-1)

    def new_database(self, name: str) -> None:
        """Make an empty database; an existing one is replaced."""
        self.primary.create(name)

    def url(self, name: str, at: tuple[str, int] | None = None) -> str:
        """Return SQLAlchemy's URL of a database."""
        host, port = at or self.address()
        return f'postgresql+psycopg://agent@{host}:{port}/{name}'

    def address(self, number: int = 0) -> tuple[str, int]:
        """Return host and port of the primary, as a floating address does."""
        del number  # only one takes writes
        return '127.0.0.1', self.primary.port

    def kill_sessions(
        self, name: str, ports: Collection[int] | None = None
    ) -> int:
        """End sessions in a database; return how many there were.

        :param ports: those of the clients; all by default
        """
        whose = (
            ''
            if ports is None
            else f' and client_port in ({", ".join(map(str, {0, *ports}))})'
        )
        ended = self.primary.rows(
            'postgres',
            'select pg_terminate_backend(pid, 10000) from pg_stat_activity '
            f"where datname = '{name}' and pid <> pg_backend_pid(){whose}",
        )
        return len(ended)

    @contextlib.contextmanager
    def accounts(self, name: str) -> Iterator[None]:
        """Have the accounts "locked" and "guest"."""
        (path,) = self.primary.rows('postgres', 'show hba_file')
        rules, before = pathlib.Path(path), pathlib.Path(path).read_text()
        passwords = 'host all locked,guest 127.0.0.1/32 scram-sha-256\n'
        again = 'select pg_reload_conf()'
        self.primary.run(
            name,
            "create role locked login password 'unknown';"
            "create role guest login password 'secret'",
        )
        rules.write_text(passwords + before)
        self.primary.run(name, again)
        try:
            yield
        finally:
            rules.write_text(before)
            self.primary.run(name, f'{again}; drop role locked, guest')

    @contextlib.contextmanager
    def stopped(self, number: int = 0) -> Iterator[None]:
        """Keep the primary's processes from running."""
        del number
        assert self.primary.pid
        with no_processor(self.primary.pid):
            yield

    def part(self) -> None:
        """Let the standby receive nothing any more."""
        standby = self._standby()
        for statement in (
            "alter system set primary_conninfo = ''",
            'select pg_reload_conf()',
        ):
            standby.run('postgres', statement)
        wait_for(lambda: self._followers() == [], 'the standby is alone')

    def wait_for_standby(self) -> None:
        """Wait until the standby has all that was committed."""
        query = 'select pg_current_wal_lsn()'
        (end,) = self.primary.rows('postgres', query)
        query = f"select pg_last_wal_replay_lsn() >= '{end}'"
        standby = self._standby()
        wait_for(
            lambda: list(standby.rows('postgres', query)) == ['t'],
            'the standby has all',
        )

    def fail_over(self) -> None:
        """End the primary as a crash does, and promote the standby."""
        promoted, self.standby = self._standby(), None
        self._crash()
        (done,) = promoted.rows('postgres', 'select pg_promote(true, 60)')
        assert done == 't', 'the standby was not promoted'
        self.primary = promoted

    def repair(self) -> None:
        """Have a standby that follows, whatever happened before."""
        if self._followers() != ['streaming']:
            if self.standby is not None:
                self._crash(1)
            self.join()

    def join(self) -> None:
        """Start a new standby of the primary."""
        directory = self._new_directory()
        self.primary.make_standby(directory)
        self.standby = self._started(directory)
        wait_for(
            lambda: self._followers() == ['streaming'], 'the standby streams'
        )

    def _crash(self, number: int = 0) -> None:
        """End the oldest server, or another one; nothing is tidied up."""
        server, life = self._lives.pop(number)
        assert server.pid
        os.kill(server.pid, signal.SIGQUIT)
        for child in list(family(server.pid))[1:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        life.close()

    def _standby(self) -> postgresql.PostgreSQL:
        assert self.standby is not None, 'it was promoted'
        return self.standby

    def _followers(self) -> list[str]:
        query = 'select state from pg_stat_replication'
        return list(self.primary.rows('postgres', query))

    def _new_directory(self) -> pathlib.Path:
        made = self._directory / str(len(list(self._directory.iterdir())))
        made.mkdir()
        return made

    def _started(
        self, directory: pathlib.Path | None = None
    ) -> postgresql.PostgreSQL:
        directory = directory or self._new_directory()
        life = contextlib.ExitStack()
        port = openstack_server.steady_port()
        server = life.enter_context(
            postgresql.started(directory, port, _SETTINGS)
        )
        self._lives.append((server, life))
        return server


@contextlib.contextmanager
def running() -> Iterator[PostgreSQLPair]:
    """Yield a pair; both end on exit."""
    with folder('root') as made:
        pair = PostgreSQLPair(made)
        try:
            pair.start()
            yield pair
        finally:
            pair.end()
