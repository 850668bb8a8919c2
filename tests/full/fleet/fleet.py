# SPDX-License-Identifier: Apache-2.0
"""Some agents of one share, with a network each, and what can befall one.

The agents are processes. Each reaches placement, Ironic and its database by
relays of its own, and lives in a network namespace if root runs this, so that its cable
can be pulled. ``accidents.py`` lets things happen to the one that holds the lease.
"""

import contextlib
import pathlib
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import clocks
import databases
import described
import requests
import sqlalchemy
from databases import galera, namespace, relay
from long_runs import daemon

_PROGRAM = pathlib.Path(__file__).with_name('agent.py')
_ROW = 'select epoch, pid, beat from lease where share = :share'
_OF_THE_LEASE = re.compile(r'\b(?:lease|share|shared|standby|stands by)\b')
_HEADERS = {
    'X-Auth-Token': 'admin:test',
    'OpenStack-API-Version': 'placement 1.39',
}


class Network:
    """The way of one agent to placement, Ironic and its database.

    :ivar prefix: words before a command that is to run in it
    :ivar database: the relay to the database
    """

    def __init__(
        self,
        undo: contextlib.ExitStack,
        database: Callable[[], relay.Address],
    ) -> None:
        self._undo = undo
        self._own: namespace.Namespace | None = None
        self._relays: list[relay.Relay] = []
        self.prefix: Sequence[str] = ()
        if namespace.can_be_made():
            self._own = undo.enter_context(namespace.made())
            self.prefix = self._own.command()
        self.database = self.relay(database)

    def relay(self, target: Callable[[], relay.Address]) -> relay.Relay:
        """Return the way to a server."""
        host = self._own.host if self._own else '127.0.0.1'
        made = self._undo.enter_context(relay.relaying(target, host))
        self._relays.append(made)
        return made

    def cut(self) -> None:
        """Let nothing arrive any more; nothing ends, either."""
        if self._own:
            self._own.cut()
        else:
            for one in self._relays:
                one.hold()

    def mend(self) -> None:
        """Let all arrive again."""
        if self._own:
            self._own.mend()
        for one in self._relays:
            one.mend()


class Site:
    """The database and the placement that some shares have in common.

    :ivar url: of placement
    :ivar placement: its database
    :ivar record: the file of the requests that it got
    :ivar asks: the number of the server that the tests themselves ask
    :ivar failed_over: when the database lost commits
    """

    def __init__(
        self,
        folder: pathlib.Path,
        servers: databases.Servers,
        undo: contextlib.ExitStack,
    ) -> None:
        self.folder = folder
        self.servers = servers
        self.record = folder / 'requests'
        self.placement = folder / 'placement.sqlite'
        self.asks = 0
        self.failed_over: list[float] = []
        servers.new_database('fleet')
        way = undo.enter_context(
            relay.relaying(lambda: servers.address(self.asks))
        )
        self.engine = sqlalchemy.create_engine(
            servers.url('fleet', way.address),
            isolation_level='AUTOCOMMIT',
            pool_pre_ping=True,
        )
        undo.callback(self.engine.dispose)
        self.url = undo.enter_context(
            daemon.recorded_placement(folder, self.record)
        )


@contextlib.contextmanager
def at_a_site(
    folder: pathlib.Path, servers: databases.Servers
) -> Iterator[Site]:
    """Yield an empty database and an empty placement; they end on exit."""
    with contextlib.ExitStack() as undo:
        yield Site(folder, servers, undo)


class Fleet:
    """The agents of one share, and the nodes that their driver describes."""

    def __init__(
        self,
        site: Site,
        nodes: described.Nodes,
        share: str,
        lease: float,
        *words: str,
        clocks: Mapping[str, clocks.Clock] | None = None,
    ) -> None:
        """Have three agents, or one for each of these clocks.

        :param words: for ``agent.py``
        :param clocks: by the letter of the agent; the real one by default
        """
        self._words = words
        self._undo = contextlib.ExitStack()
        self.site = site
        self.nodes = nodes
        self.share = share
        self.lease = lease
        self._marked: set[str] = set()
        self.networks: dict[str, Network] = {}
        self.daemons: dict[str, daemon.Daemon] = {}
        for number, letter in enumerate(clocks or 'abc'):
            who = f'{share}-{letter}'
            clock = clocks[letter].command() if clocks else []
            self.networks[who] = Network(
                self._undo, lambda number=number: site.servers.address(number)
            )
            self.daemons[who] = self._daemon(who, clock)

    def _daemon(self, who: str, clock: Sequence[str]) -> daemon.Daemon:
        network = self.networks[who]
        port = int(self.site.url.rpartition(':')[2])
        to_placement = network.relay(lambda: ('127.0.0.1', port)).address
        target = self.nodes.address()
        at = network.relay(lambda: target).address if target else None
        url = self.site.servers.url('fleet', network.database.address)
        return daemon.Daemon(
            who,
            self.site.folder / who,
            f'http://{to_placement[0]}:{to_placement[1]}',
            options='[compute_agent]\n'
            f'state_connection = {url}\nshare = {self.share}\n'
            f'lease_seconds = {self.lease}\n{self.nodes.options(at)}',
            program=[str(_PROGRAM), *self._words],
            prefix=[
                'env',
                f'PYTHONPATH={_python_path()}',
                *network.prefix,
                *clock,
            ],
        )

    def start(self) -> None:
        """Start all; return when one holds the lease and all is reported."""
        self.tell()
        first, *others = self.daemons
        self._undo.callback(self._end)
        self.daemons[first].start()
        databases.wait_for(lambda: self.holder() == first, 'a first holder')
        databases.wait_for(self.is_right, 'all is reported')
        for who in others:
            self.daemons[who].start()
        for who in others:
            self.wait_for_standby(who, 0)
        self.mark(5)

    def close(self) -> None:
        """End all."""
        self._undo.close()

    def _end(self) -> None:
        for network in self.networks.values():
            network.mend()
        for one in self.daemons.values():
            if one.lives:
                with contextlib.suppress(ProcessLookupError):
                    one.signal(signal.SIGCONT)
                one.kill()

    # --- what they report -----------------------------------------------------

    def tell(self) -> None:
        """Let the drivers know what the nodes are."""
        self.nodes.tell(self.daemons.values())

    def is_right(self) -> bool:
        """Return True if placement has what it should.

        Its file cannot be opened at the moment at which it begins its log.
        """
        try:
            return not self.wrong()
        except sqlite3.OperationalError:
            return False

    def wrong(self) -> list[str]:
        """Return what placement has otherwise than it should."""
        found = described.reported(self.site.placement, self.nodes.prefix)
        wanted = self.nodes.wanted
        return [
            f'{name} is {found.get(name)} and should be {wanted.get(name)}'
            for name in sorted(found.keys() | wanted.keys())
            if found.get(name) != wanted.get(name)
        ]

    def lost(self) -> list[str]:
        """Return the nodes that lack the trait that an operator added."""
        kept = described.with_trait(self.site.placement, described.OPERATORS)
        return sorted((self._marked & self.nodes.wanted.keys()) - kept)

    def mark(self, count: int) -> None:
        """Add an operator's trait to the newest nodes, if the driver leaves it."""
        if not self.nodes.leaves_others:
            return
        self._send('PUT', f'/traits/{described.OPERATORS}')
        for name in list(self.nodes.wanted)[-count:]:
            listed = self._send('GET', f'/resource_providers?name={name}')
            (one,) = listed.json()['resource_providers']
            self._add_trait(f'/resource_providers/{one["uuid"]}/traits')
            self._marked.add(name)

    def _add_trait(self, path: str) -> None:
        while True:
            body = self._send('GET', path).json()
            if described.OPERATORS in body['traits']:
                return
            body['traits'].append(described.OPERATORS)
            if self._send('PUT', path, json=body).ok:
                return

    def _send(self, method: str, path: str, **how: Any) -> requests.Response:
        return requests.request(
            method,
            f'{self.site.url}{path}',
            headers=_HEADERS,
            timeout=60,
            **how,
        )

    # --- who holds the lease --------------------------------------------------

    def row(self) -> tuple[int, ...]:
        """Return the lease's epoch, the process that holds it, and the beat."""
        with self.site.engine.connect() as opened:
            row = opened.execute(
                sqlalchemy.text(_ROW), {'share': self.share}
            ).first()
        return (0, 0, 0) if row is None else tuple(int(n or 0) for n in row)

    def holder(self) -> str:
        """Return the agent that holds the lease; '' if none does."""
        with contextlib.suppress(sqlalchemy.exc.SQLAlchemyError):
            _, pid, _ = self.row()
            for who, one in self.daemons.items():
                if one.lives and one.pid == pid:
                    return who
        return ''

    def tell_all(self) -> None:
        """Print the lease, and the end of each agent's log, for a failed test."""
        try:
            row = f'{self.row()}'
        except sqlalchemy.exc.SQLAlchemyError as exc:
            row = f'unknown: {exc}'
        sys.stdout.write(f'epoch, process and beat of {self.share}: {row}\n')
        for who, one in self.daemons.items():
            said = one.said.splitlines()
            about = [line for line in said if _OF_THE_LEASE.search(line)]
            for title, lines in (('about the lease', about), ('all', said)):
                sys.stdout.write(f'--- {who}, {one.ending}, {title}\n')
                last = lines[-daemon.LINES :]
                sys.stdout.writelines(f'{line}\n' for line in last)

    def wait_for_standby(self, who: str, mark: int) -> None:
        """Wait until an agent said that it stands by, after a mark."""
        one = self.daemons[who]
        databases.wait_for(
            lambda: 'stands by' in one.said_since(mark),
            f'{who} stands by',
        )


def _python_path() -> str:
    support = pathlib.Path(databases.__file__).parents[1]
    return f'{support}:{support.parents[1]}'


@contextlib.contextmanager
def running(
    site: Site,
    nodes: described.Nodes,
    share: str,
    lease: float,
    *words: str,
    **how: Any,
) -> Iterator[Fleet]:
    """Yield a fleet at work; it ends on exit.

    :param how: see ``Fleet``, as for the words
    """
    fleet = Fleet(site, nodes, share, lease, *words, **how)
    try:
        fleet.start()
        yield fleet
    except AssertionError:
        fleet.tell_all()
        raise
    finally:
        fleet.close()


@contextlib.contextmanager
def several(
    site: Site, nodes: Sequence[described.Nodes], lease: float
) -> Iterator[list[Fleet]]:
    """Yield a fleet for each of these; they end on exit."""
    with contextlib.ExitStack() as undo:
        yield [
            undo.enter_context(running(site, one, f'rack{number}', lease))
            for number, one in enumerate(nodes, 1)
        ]


class Fault:
    """Something that befalls the holder, and the end of it."""

    def __init__(self, fleet: Fleet, who: str) -> None:
        self.fleet = fleet
        self.who = who
        self.agent = fleet.daemons[who]
        self.network = fleet.networks[who]
        self.mark = self.agent.size

    def strike(self) -> None:
        """Let it happen."""
        raise NotImplementedError

    def end(self) -> None:
        """Let it be over."""
        self.network.mend()

    def wait(self) -> None:
        """Wait until the agent stands by."""
        self.fleet.wait_for_standby(self.who, self.mark)


class Killed(Fault):
    """``kill -9``; it is started again."""

    def strike(self) -> None:
        self.agent.kill()

    def end(self) -> None:
        self.mark = 0  # its log is a new one
        self.agent.start()


class Stopped(Fault):
    """SIGSTOP, and SIGCONT after three leases."""

    def strike(self) -> None:
        self.agent.signal(signal.SIGSTOP)
        self._until = time.monotonic() + 3 * self.fleet.lease

    def end(self) -> None:
        time.sleep(max(0.0, self._until - time.monotonic()))
        self.agent.signal(signal.SIGCONT)


class WithoutDatabase(Fault):
    """Its sessions end, and it reaches the database no more."""

    def strike(self) -> None:
        ports = self.network.database.ports
        self.network.database.cut()
        self.fleet.site.servers.kill_sessions('fleet', ports)


class WithoutNetwork(Fault):
    """Its cable is pulled: it reaches neither placement nor the database."""

    def strike(self) -> None:
        self.network.cut()


class WithoutCluster(Fault):
    """Its server of a Galera cluster does not reach the others any more."""

    def strike(self) -> None:
        site = self.fleet.site
        number = list(self.fleet.daemons).index(self.who)
        site.asks = (number + 1) % galera.SIZE
        self._life = contextlib.ExitStack()
        assert isinstance(site.servers, galera.Galera)
        self._life.enter_context(site.servers.isolated(number))

    def end(self) -> None:
        self._life.close()


FAULTS: dict[str, type[Fault]] = {
    'killed': Killed,
    'stopped': Stopped,
    'without database': WithoutDatabase,
    'without network': WithoutNetwork,
    'without cluster': WithoutCluster,
}
