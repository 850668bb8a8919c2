# SPDX-License-Identifier: Apache-2.0
"""Daemons that share one node: each in a process, with a directory of its own.

A pytest plugin: ``members`` starts them. They have the fake driver, a placement
of the test's own, and the shared database that the test names.
"""

import collections.abc
import contextlib
import pathlib
import signal
import sqlite3
import time
import typing

import command_line
import pytest
import sqlalchemy
import stopped_process
from sqlalchemy import pool

ROOT = '11111111-1111-4111-8111-111111111111'
TRAITS = f'/resource_providers/{ROOT}/traits'
HOLDS = 'this agent holds the share fake from now on'
STANDS_BY = ': this agent stands by'
LEASE = {'lease_seconds': 3, 'share': 'fake'}
# Its fake driver describes the node only once a file is there.
SLOW = """
import os, sys, time
from compute_agent.cmd.app import start
from drivers.fake.driver import FakeDriver

describe = FakeDriver.update_provider_tree

def slowly(self, *args, **named):
    print('it describes', flush=True)
    while not os.path.exists(os.environ['GO_ON']):
        time.sleep(0.05)
    return describe(self, *args, **named)

FakeDriver.update_provider_tree = slowly
sys.exit(start.main())
"""


class Members:
    """The daemons of one share.

    :ivar url: of the shared database; SQLite's by default
    """

    def __init__(
        self,
        cli: command_line.CommandLine,
        daemon: collections.abc.Callable[..., command_line.Daemon],
        folder: pathlib.Path,
    ) -> None:
        self.cli = cli
        self._daemon = daemon
        self._folder = folder
        self.url = f'sqlite+pysqlite:///{folder / "shared.sqlite"}'

    def start(
        self,
        name: str,
        program: tuple[str, ...] = ('-m', 'compute_agent.cmd.app.start'),
        **agent: object,
    ) -> command_line.Daemon:
        """Start a daemon.

        :param program: what Python is to run
        :param agent: options of [compute_agent]
        """
        return self._daemon(self.config(name, **agent), program=program)

    def config(self, name: str, **agent: object) -> pathlib.Path:
        """Return the configuration of the daemon with this name.

        :param agent: options of [compute_agent]
        """
        options = {**LEASE, 'state_connection': self.url, **agent}
        self.cli.configure(
            agent={**options, 'state_path': self._folder / f'state-{name}'},
            update_resources_interval=3600,
        )
        path = self._folder / f'{name}.conf'
        path.write_text(self.cli.config.read_text())
        return path

    def on(self, name: str, *words: str) -> command_line.Result:
        """Run a command as on the machine of this daemon."""
        self.config(name)
        return self.cli.run(*words)

    def both(self) -> tuple[command_line.Daemon, command_line.Daemon]:
        """Return a holder that has reported, and a standby."""
        holder = self.start('first')
        holder.wait_for('cycle: ')
        standby = self.start('second')
        standby.wait_for(STANDS_BY)
        wait_until(self._has_standby)  # its row comes after the line
        return holder, standby

    def freeze(self, one: command_line.Daemon) -> None:
        """Stop a daemon while it holds no lock of SQLite.

        Nobody else could take the lock; a machine that stops gives it back.
        """
        path = self._folder / 'shared.sqlite'
        while True:
            stopped_process.freeze(one.process.pid)
            with (
                contextlib.suppress(sqlite3.OperationalError),
                contextlib.closing(sqlite3.connect(path, timeout=0)) as shared,
            ):
                shared.execute('begin exclusive')
                return
            one.process.send_signal(signal.SIGCONT)

    def beat(self) -> int:
        """Return the beat of the share."""
        return self._number('select beat from lease')

    def _has_standby(self) -> bool:
        return self._number('select count(*) from standby') > 0

    def _number(self, query: str) -> int:
        """Return what the shared database answers."""
        engine = sqlalchemy.create_engine(self.url, poolclass=pool.NullPool)
        with engine.connect() as shared:
            return int(shared.execute(sqlalchemy.text(query)).scalar_one())

    def traits(self) -> set[str]:
        """Return the traits of the node in placement."""
        return set(self.cli.placement(TRAITS)['traits'])


def wait_until(is_so: collections.abc.Callable[[], object]) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + command_line.PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def members(
    cli: command_line.CommandLine,
    daemon: typing.Any,
    tmp_path: pathlib.Path,
) -> Members:
    """The daemons of one share; none runs yet."""
    return Members(cli, daemon, tmp_path)


@pytest.fixture
def patient(members: Members, monkeypatch: pytest.MonkeyPatch) -> Members:
    """Members with a longer lease, whose beats show on a busy machine too."""
    monkeypatch.setitem(LEASE, 'lease_seconds', 10)
    return members
