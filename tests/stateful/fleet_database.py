# SPDX-License-Identifier: Apache-2.0
"""The database that fleets share, on SQLite in memory; it can lose commits.

``Wire`` is a member's way to it: each transaction is an event of the member's
turn. All fleets of a process have one connection, whose content begins anew.
"""

import collections.abc
import contextlib
import functools
import json
import typing

import sqlalchemy as sa
from oslo_db import exception

from compute_agent.fleet.database import connection, schema, tables


def lost() -> Exception:
    """Return the error of a connection that is lost."""
    return exception.DBConnectionError()


@functools.cache
def _engine() -> tuple[sa.Engine, bytes]:
    """Return an engine, and a database with nothing in its tables."""
    made = connection.engine('sqlite+pysqlite:///:memory:')
    schema.migrate(made)
    with made.connect() as db:
        return made, _raw(db).serialize()


def close() -> None:
    """Close the connection of all fleets; the next fleet opens another."""
    if _engine.cache_info().currsize:
        _engine()[0].dispose()
        _engine.cache_clear()


def _raw(db: sa.Connection) -> typing.Any:
    return db.connection.driver_connection


class FleetDatabase:
    """The database, and the replica that follows it.

    :ivar is_away: True while it does not answer
    """

    def __init__(self) -> None:
        self.engine, empty = _engine()
        self.is_away = False
        self._replica = empty
        self.fail_over()

    def remember(self) -> None:
        """Let the replica have all that was committed."""
        with self.engine.connect() as db:
            self._replica = _raw(db).serialize()

    def fail_over(self) -> None:
        """Go on with what the replica has."""
        with self.engine.connect() as db:
            _raw(db).deserialize(self._replica)

    def lease(self, share: str) -> tuple[int, str, int] | None:
        """Return epoch, holder and beat of a share."""
        row = tables.LEASE.c
        found = self._rows(
            sa.select(row.epoch, row.who, row.beat).where(row.share == share)
        )
        return tuple(found[0]) if found else None

    def documents(self, share: str) -> dict[str, str]:
        """Return the documents of a share by their keys."""
        row = tables.NODE_RECORD.c
        found = self._rows(
            sa.select(row.key, row.document).where(
                (row.share == share) & row.document.is_not(None)
            )
        )
        return dict(found)

    def unanswered(self, share: str) -> list[typing.Any]:
        """Return the requests of people that nobody answered."""
        row = tables.REQUEST.c
        return self._rows(
            sa.select(row.key).where(
                (row.share == share) & row.answer.is_(None)
            )
        )

    def history(self, share: str) -> list[tuple[typing.Any, ...]]:
        """Return the entries of a share's history."""
        row = tables.HISTORY.c
        found = self._rows(sa.select(row.entries).where(row.share == share))
        return [tuple(one) for (some,) in found for one in json.loads(some)]

    def _rows(self, query: typing.Any) -> list[typing.Any]:
        with self.engine.connect() as db:
            return list(db.execute(query).all())


class Wire:
    """A member's way to the database: an engine whose transactions are events."""

    def __init__(self, database: FleetDatabase, member: typing.Any) -> None:
        self._database = database
        self._member = member
        self.url = database.engine.url

    @contextlib.contextmanager
    def connect(self) -> collections.abc.Iterator['Opened']:
        """Begin a transaction."""
        self._member.event('ask')
        if self._database.is_away:
            raise lost()
        with self._database.engine.connect() as db:
            yield Opened(db, self._member)


class Opened:
    """A connection whose commit is an event, if there is anything to commit."""

    def __init__(self, db: sa.Connection, member: typing.Any) -> None:
        self._db = db
        self._member = member

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._db, name)

    def commit(self) -> None:
        """Commit."""
        if not _raw(self._db).in_transaction:
            self._db.commit()
            return
        self._member.event('commit')
        self._db.commit()
        self._member.event('committed')
