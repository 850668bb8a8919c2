# SPDX-License-Identifier: Apache-2.0
"""A real Ironic for the tests, with somebody who does things to its nodes.

A pytest plugin: ``ironic`` is the fixture most tests want; each test begins
without nodes. One server serves the whole session, and ``ironic.url`` is
where. What only many nodes or broken hardware would show is written to the
server's database behind its back: it reads every answer from there.
"""

import collections.abc
import contextlib
import datetime as dt
import pathlib
import shutil
import sqlite3
import typing
import uuid

import pytest

from compute_agent import errors
from demo import ironic_operator, local_ironic

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = local_ironic.installed(ROOT)
USER, PASSWORD = 'operator', 'of this test'
# That password, at bcrypt's lowest cost.
HTPASSWD = (
    f'{USER}:$2b$04$yDkG3k07KYK1oC3bDa/NbebnDrO5TTZhuF5BuzOljd6Vwc.IXqF6S\n'
)


class Ironic(ironic_operator.IronicOperator):
    """The operator of one local Ironic, who can also forge.

    :ivar url: the endpoint, as the code under test is to be given it
    """

    def __init__(
        self,
        server: local_ironic.LocalIronic,
        auth: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(server.url, auth)
        self.url = server.url
        self._database = server.database

    def available(
        self,
        name: str,
        resource_class: str | None = 'gold',
        traits: collections.abc.Iterable[str] = (),
        **fields: typing.Any,
    ) -> str:
        """Make a node that can be deployed; return its uuid."""
        node = self.create(name=name, resource_class=resource_class, **fields)
        self.set_traits(name, traits)
        self.provide(name)
        return str(node['uuid'])

    def deploy(self, ident: str, instance: str | None = None) -> str:
        """Make an available node active; return its instance's uuid."""
        instance = instance or str(uuid.uuid4())
        self.patch(ident, instance_uuid=instance)
        self.provision(ident, 'active', 'active')
        return instance

    def undeploy(self, ident: str) -> None:
        """Make an active node available, without an instance."""
        self.provision(ident, 'deleted', 'available')

    def traits(self, ident: str) -> set[str]:
        """Return a node's traits."""
        return set(self.node(ident)['traits'])

    def add_trait(self, ident: str, trait: str) -> None:
        """Give a node one more trait."""
        self.request('PUT', f'/nodes/{ident}/traits/{trait}')

    def remove_trait(self, ident: str, trait: str) -> None:
        """Take a trait off a node."""
        self.request('DELETE', f'/nodes/{ident}/traits/{trait}')

    def set_maintenance(self, ident: str, *, on: bool) -> None:
        """Begin a node's maintenance, or end it."""
        method = 'PUT' if on else 'DELETE'
        self.request(method, f'/nodes/{ident}/maintenance')

    def validate(self, ident: str) -> dict[str, typing.Any]:
        """Return what Ironic says of each interface: result and reason."""
        found: dict[str, typing.Any] = self.request(
            'GET', f'/nodes/{ident}/validate'
        )
        return found

    def delete(self, ident: str) -> None:
        """Delete a node, whatever state it is in."""
        self.set_maintenance(ident, on=True)
        self.patch(ident, instance_uuid=None)
        super().delete(ident)

    def force(self, ident: str, **columns: typing.Any) -> None:
        """Forge columns of a node's row, for what fake hardware never does.

        For example ``force(node, power_state='error')``. This moves
        ``updated_at``, as a write of Ironic does.
        """
        columns = {'updated_at': _now(), **columns}
        names = ', '.join(f'{name} = ?' for name in columns)
        with self._rows() as rows:
            changed = rows.execute(
                f'UPDATE nodes SET {names} WHERE uuid = ? OR name = ?',
                (*columns.values(), ident, ident),
            )
            assert changed.rowcount == 1, f'no node {ident}'

    def force_trait(
        self, trait: str, uuids: collections.abc.Iterable[str]
    ) -> None:
        """Give some nodes one more trait at once; this moves ``updated_at``."""
        some = list(uuids)
        with self._rows() as rows:
            rows.executemany(
                'INSERT INTO node_traits (node_id, trait, version, created_at) '
                "SELECT id, ?, '1.0', created_at FROM nodes WHERE uuid = ?",
                [(trait, one) for one in some],
            )
            rows.executemany(
                'UPDATE nodes SET updated_at = ? WHERE uuid = ?',
                [(_now(), one) for one in some],
            )

    def copies(self, ident: str, count: int) -> list[str]:
        """Make nodes just like this one, thousands in a second.

        They are called ``copy-0000`` and so on; return their uuids.
        """
        uuids = [str(uuid.uuid4()) for _ in range(count)]
        with self._rows() as rows:
            (row,) = rows.execute(
                'SELECT * FROM nodes WHERE uuid = ? OR name = ?',
                (ident, ident),
            )
            model = dict(row)
            source = model.pop('id')
            for number, one in enumerate(uuids):
                model |= {
                    'uuid': one,
                    'name': f'copy-{number:04}',
                    'instance_uuid': None,
                    'created_at': _now(),
                    'updated_at': None,
                }
                made = rows.execute(
                    f'INSERT INTO nodes ({", ".join(model)}) '
                    f'VALUES ({", ".join("?" * len(model))})',
                    list(model.values()),
                )
                rows.execute(
                    'INSERT INTO node_traits '
                    '(node_id, trait, version, created_at) '
                    'SELECT ?, trait, version, created_at FROM node_traits '
                    'WHERE node_id = ?',
                    (made.lastrowid, source),
                )
        return uuids

    def delete_all(self) -> None:
        """Delete every node, whatever tests have made of it."""
        with self._rows() as rows:
            rows.execute(
                'DELETE FROM node_traits WHERE node_id IN '
                "(SELECT id FROM nodes WHERE name LIKE 'copy-%')"
            )
            rows.execute("DELETE FROM nodes WHERE name LIKE 'copy-%'")
            rows.execute(
                'UPDATE nodes SET maintenance = 1, protected = 0, '
                "instance_uuid = NULL, reservation = NULL, conductor_group = '', "
                'provision_state = '
                "coalesce(provision_state, 'available')"
            )
        for node in self.nodes():
            super().delete(node['uuid'])

    @contextlib.contextmanager
    def _rows(self) -> collections.abc.Iterator[sqlite3.Connection]:
        with contextlib.closing(
            sqlite3.connect(self._database, timeout=30)
        ) as connection:
            connection.row_factory = sqlite3.Row
            with connection:
                yield connection


def _now() -> str:
    """Return the time as Ironic writes it into SQLite."""
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    return now.isoformat(' ', 'microseconds')


@contextlib.contextmanager
def _serving(
    home: pathlib.Path, htpasswd: str | None = None
) -> collections.abc.Iterator[local_ironic.LocalIronic]:
    server = local_ironic.LocalIronic(home, program=PROGRAM, htpasswd=htpasswd)
    problem = ''
    try:
        server.start()
    except errors.ConfigError as exc:
        problem = str(exc)
    if problem:
        pytest.fail(problem, pytrace=False)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def _operating(
    server: local_ironic.LocalIronic, auth: tuple[str, str] | None = None
) -> collections.abc.Iterator[Ironic]:
    with contextlib.closing(Ironic(server, auth)) as operator:
        yield operator
        operator.delete_all()


def _empty(server: local_ironic.LocalIronic) -> pathlib.Path:
    return server.database.with_name('empty.sqlite')


@pytest.fixture(scope='session')
def ironic_server(
    tmp_path_factory: typing.Any,
) -> collections.abc.Iterator[local_ironic.LocalIronic]:
    """The session's Ironic, open to everybody; without one the test fails."""
    with _serving(tmp_path_factory.mktemp('ironic')) as server:
        with (
            contextlib.closing(sqlite3.connect(server.database)) as used,
            contextlib.closing(sqlite3.connect(_empty(server))) as empty,
        ):
            used.backup(empty)
        yield server


@pytest.fixture(scope='session')
def ironic_home(
    ironic_server: local_ironic.LocalIronic,
) -> collections.abc.Callable[[pathlib.Path], pathlib.Path]:
    """Make the directory of one more Ironic; its tables are there already.

    That is half of the time that a first start takes.
    """

    def make(path: pathlib.Path) -> pathlib.Path:
        path.mkdir(parents=True, exist_ok=True)
        shutil.copy(_empty(ironic_server), path / ironic_server.database.name)
        return path

    return make


@pytest.fixture(scope='session')
def ironic_basic_server(
    ironic_home: collections.abc.Callable[[pathlib.Path], pathlib.Path],
    tmp_path_factory: typing.Any,
) -> collections.abc.Iterator[local_ironic.LocalIronic]:
    """An Ironic that wants ``USER`` and ``PASSWORD``."""
    home = ironic_home(tmp_path_factory.mktemp('ironic-basic'))
    with _serving(home, HTPASSWD) as server:
        yield server


@pytest.fixture
def ironic(
    ironic_server: local_ironic.LocalIronic,
) -> collections.abc.Iterator[Ironic]:
    """The operator of an Ironic without nodes."""
    with _operating(ironic_server) as operator:
        yield operator


@pytest.fixture
def ironic_basic(
    ironic_basic_server: local_ironic.LocalIronic,
) -> collections.abc.Iterator[Ironic]:
    """The operator, with name and password, of an Ironic that wants them."""
    with _operating(ironic_basic_server, (USER, PASSWORD)) as operator:
        yield operator
