# SPDX-License-Identifier: Apache-2.0
"""A lease and a record in tables, and the statements that agents send.

They are those of an agent, with nothing around them: what the servers do with
them is what the agents rest on.
"""

import concurrent.futures
import contextlib
from collections.abc import Callable, Iterator

import sqlalchemy
from databases.relay import Relay
from oslo_db.sqlalchemy import engines

_TABLES = (
    'create table lease (share varchar(9) primary key, epoch int, beat int)',
    'create table record (node varchar(9) primary key, epoch int)',
    "insert into lease values ('rack1', 1, 0)",
)
_BEAT = "update lease set beat = beat + 1 where share = 'rack1' and epoch = {}"
_TAKE = (
    'update lease set epoch = epoch + 1, beat = beat + 1 '
    "where share = 'rack1' and epoch = {}"
)


class Table:
    """The tables, as one client sees them."""

    def __init__(self, url: str) -> None:
        self.engine = engines.create_engine(url, max_retries=0)

    def make(self) -> None:
        """Make the tables, with a lease of epoch 1."""
        with self.engine.begin() as opened:
            for statement in _TABLES:
                opened.execute(sqlalchemy.text(statement))

    def epoch(self) -> int:
        """Return the epoch of the lease."""
        return int(self._all('select epoch from lease')[0])

    def nodes(self) -> list[str]:
        """Return the names of the nodes in the record."""
        return [str(n) for n in self._all('select node from record')]

    def _all(self, query: str) -> list[object]:
        with self.engine.connect() as opened:
            rows = opened.execute(sqlalchemy.text(query))
            return [row[0] for row in rows]


class Transaction:
    """A transaction of one client."""

    def __init__(self, opened: sqlalchemy.Connection) -> None:
        self._opened = opened

    def beat(self, epoch: int) -> int:
        """Write the lease's row of an epoch; return how many there were."""
        return self._run(_BEAT.format(epoch)).rowcount

    def take(self, epoch: int) -> int:
        """Take the lease over; return how many rows were changed."""
        return self._run(_TAKE.format(epoch)).rowcount

    def read_shared(self) -> int:
        """Return the epoch; the row is locked against changes."""
        # MariaDB has another word for PostgreSQL's.
        is_mariadb = self._opened.dialect.name == 'mysql'
        lock = 'lock in share mode' if is_mariadb else 'for share'
        row = self._run(f'select epoch from lease {lock}').one()
        return int(row[0])

    def lock_by_name(self) -> int:
        """Ask for a lock that has a name only; return 1 if it is given."""
        return int(self._run("select get_lock('rack1', 0)").scalar_one())

    def record(self, node: str, epoch: int) -> None:
        """Write the node's record."""
        self._run(f"insert into record values ('{node}', {epoch})")

    def commit(self) -> None:
        """Commit it."""
        self._opened.commit()

    def record_and_commit(self, node: str, epoch: int) -> None:
        """Write the node's record, and commit it."""
        self.record(node, epoch)
        self.commit()

    def _run(self, statement: str) -> sqlalchemy.CursorResult[tuple[object]]:
        return self._opened.execute(sqlalchemy.text(statement))


@contextlib.contextmanager
def begun(table: Table) -> Iterator[Transaction]:
    """Yield a transaction; what is not committed is rolled back."""
    with table.engine.connect() as opened:
        yield Transaction(opened)


@contextlib.contextmanager
def client(url: str) -> Iterator[Table]:
    """Yield what a client has; its connections end on exit."""
    table = Table(url)
    try:
        yield table
    finally:
        table.engine.dispose()


def commit_without_answer(
    one: Transaction, relay: Relay, is_done: Callable[[], object]
) -> BaseException | None:
    """Commit, and cut the connection when that is done.

    :returns: the error that the client gets
    """
    with concurrent.futures.ThreadPoolExecutor() as pool:
        relay.hold_answers()
        committed = pool.submit(one.commit)
        while not is_done():
            assert not committed.done()
        relay.cut()
        relay.mend()
        return committed.exception()
