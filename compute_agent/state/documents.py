# SPDX-License-Identifier: Apache-2.0
"""The record as documents: all rows of one provider are one text.

A fleet keeps the record in a database that its agents share, one document for
each provider. The key of a document is the provider's uuid; the approvals and
the masses that wait for one, which are about no single provider, have the empty
key. A provider's rows are
in its own document whatever node it was created for, so no row ever moves from
one document to another. All documents together are the whole record: an empty
database that loads them has everything but the snapshot, which can be read
from placement again.

``watch`` has SQLite note the keys of the rows that a transaction changes.
``replica.py`` calls this module; all functions are steps of its transactions.
"""

import dataclasses
import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .. import error_text, errors
from .database.database import packed

FORMAT = 'compute-agent record'
#: Of the documents. Version 1 is the record of a node that commands export.
VERSION = 2
#: The key of the document with the approvals and the masses.
OF_NO_PROVIDER = ''


@dataclasses.dataclass(frozen=True, slots=True)
class _Table:
    """A table of the record, and its columns besides the provider's uuid.

    A placement service is called by its name: another database may give it
    another number.
    """

    name: str
    columns: tuple[str, ...] = ()
    has_uuid: bool = True

    def key(self, row: str = '') -> str:
        """Return the expression for the key of a row."""
        return f'{row}uuid' if self.has_uuid else f"'{OF_NO_PROVIDER}'"

    def select(self, *, every: bool) -> str:
        """Return the query for keys and rows, in an order of their values.

        :param every: True for all documents, False for those whose keys are
            given
        """
        values = ', '.join(
            '(select name from site where id = site)' if c == 'site' else c
            for c in self.columns
        )
        where = '' if every else self._where()
        order = ', '.join(map(str, range(1, len(self.columns) + 2)))
        return (
            f'select {self.key()}, {values or "null"} from {self.name}{where}'  # noqa: S608 (constants)
            f' order by {order}'
        )

    def delete(self) -> str:
        """Return the statement that deletes the rows of several documents."""
        return f'delete from {self.name}{self._where()}'  # noqa: S608 (constants)

    def _where(self) -> str:
        """Return the condition for the rows of several documents.

        The keys of a table with sites begin with the site.
        """
        site = 'site in (select id from site) and ' * ('site' in self.columns)
        key = self.key()
        return f' where {site}{key} in (select value from json_each(?))'  # noqa: S608 (constants)

    def insert(self) -> str:
        """Return the statement that adds a row, with the key first if it has one."""
        names = ['uuid'] * self.has_uuid + list(self.columns)
        values = ', '.join(
            '(select id from site where name = ?)' if name == 'site' else '?'
            for name in names
        )
        return (
            f'insert into {self.name} ({", ".join(names)}) values ({values})'  # noqa: S608 (constants)
        )


TABLES = (
    _Table('created', ('node_uuid',)),
    _Table('ours', ('kind', 'name')),
    _Table('held', ('kind', 'source', 'node_uuid', 'names')),
    _Table(
        'intent',
        ('node_uuid', 'position', 'kind', 'generation', 'names', 'added'),
    ),
    _Table('taken_over'),
    _Table('undone', ('kind', 'name', 'content')),
    _Table(
        'node',
        (
            'name',
            'title',
            'driver',
            'answer',
            'asked_at',
            'left_at',
            'left_of',
        ),
    ),
    _Table('agreed_name', ('name',)),
    _Table('past_ours', ('position', 'kind', 'name', 'generation')),
    _Table('past_contents', ('site', 'generation', 'digest')),
    _Table('lost_root', ('site',)),
    _Table('doubted'),
    _Table('approval', ('kind', 'digest', 'given_at', 'who'), has_uuid=False),
    _Table('mass', ('kind', 'node_uuid', 'nodes', 'of_nodes'), has_uuid=False),
)
# Errors of a document that is not as an agent wrote it.
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
_BY_NAME = {table.name: table for table in TABLES}
#: The history is shared too, entry by entry.
HISTORY = (
    'at',
    'node_uuid',
    'uuid',
    'by',
    'what',
    'result',
    'content',
    'size',
)

_TOUCHED = """
create temp table touched (key text primary key) without rowid;
create temp table told (id integer primary key);
create temp trigger told_history after insert on main.history
begin insert into told values (new.id); end;
"""


# --- the documents ------------------------------------------------------------


def read(
    db: sqlite3.Connection, keys: Collection[str] | None = None
) -> dict[str, str | None]:
    """Return the documents with these keys, None for each that has no rows.

    :param keys: None for all documents that have rows
    """
    wanted = () if keys is None else (packed(keys),)
    found: dict[str, dict[str, list[list[Any]]]] = {}
    for table in TABLES:
        for key, *row in db.execute(table.select(every=not wanted), wanted):
            rows = found.setdefault(key, {}).setdefault(table.name, [])
            rows.append(row if table.columns else [])
    texts = {key: _text(tables) for key, tables in found.items()}
    return {**dict.fromkeys(keys or ()), **texts}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The part of a share in a node, as the document of its root shows.

    :ivar lists: True if the driver of its agents lists the node
    :ivar has_rights: True if its agents may write to the root, or tried to
        create it
    """

    lists: bool
    has_rights: bool


def standing(key: str, text: str) -> Standing:
    """Return what a document of another share tells of a node.

    A document that cannot be read, for example one of a newer agent, ends no
    claim.
    """
    try:
        tables = _tables(key, text)
    except errors.ConfigError:
        return Standing(lists=False, has_rights=True)
    answer = _BY_NAME['node'].columns.index('answer')
    return Standing(
        lists=any(row[answer] is None for row in tables.get('node', ())),
        has_rights=any(
            tables.get(name)
            for name in ('created', 'ours', 'taken_over', 'intent')
        ),
    )


def count_nodes(documents: Mapping[str, str]) -> int:
    """Return how many nodes these documents have.

    :raises errors.ConfigError: a document cannot be read
    """
    return sum('node' in _tables(*one) for one in documents.items())


def replace(
    db: sqlite3.Connection, documents: Mapping[str, str | None]
) -> None:
    """Replace the documents with these keys by these documents.

    :raises errors.ConfigError: a document cannot be read, or an agent of a
        newer version wrote it
    """
    found = {
        key: _tables(key, text)
        for key, text in documents.items()
        if text is not None
    }
    keys = packed(documents)
    for table in TABLES:
        db.execute(table.delete(), (keys,))
    _add_sites(db, found)
    for table in TABLES:
        rows = (
            [key, *row] if table.has_uuid else row
            for key, tables in found.items()
            for row in tables.get(table.name, ())
        )
        try:
            db.executemany(table.insert(), rows)
        except sqlite3.IntegrityError as exc:
            raise errors.ConfigError(
                f'the shared record does not fit together ({table.name}: '
                f'{exc}): restore its database from a backup'
            ) from exc


def _text(tables: Mapping[str, list[list[Any]]]) -> str:
    return json.dumps(
        {'format': FORMAT, 'version': VERSION, **tables},
        separators=(',', ':'),
    )


def _tables(key: str, text: str) -> Mapping[str, list[list[Any]]]:
    """Return the rows of a document by table.

    :raises errors.ConfigError: see ``replace``
    """
    try:
        found = json.loads(text)
        kind, version = found.pop('format'), found.pop('version')
        if kind == FORMAT and version > VERSION:
            raise errors.ConfigError(
                f'the shared record of {key or "the approvals"} has version '
                f'{version}, and this agent reads version {VERSION}: upgrade '
                'this agent to the version of the one that wrote it'
            )
        if (kind, version) != (FORMAT, VERSION):
            raise ValueError(f'format {kind!r}, version {version!r}')
        return {name: list(_rows(name, rows)) for name, rows in found.items()}
    except _UNREADABLE as exc:
        raise errors.ConfigError(
            f'the shared record of {key or "the approvals"} cannot be read '
            f'({error_text.one_line(exc)}): restore its database from a backup'
        ) from exc


def _rows(name: str, rows: Any) -> Iterator[list[Any]]:
    """Yield the rows of a table; an error says that they are damaged."""
    expected = len(_BY_NAME[name].columns)
    for row in rows:
        scalars = all(isinstance(v, str | int | float | None) for v in row)
        if len(row) != expected or not scalars:
            raise ValueError(f'a row of {name} is damaged')
        yield list(row)


def _add_sites(
    db: sqlite3.Connection,
    found: Mapping[str, Mapping[str, list[list[Any]]]],
) -> None:
    """Add the placement services that the documents name."""
    names = {
        row[table.columns.index('site')]
        for table in TABLES
        if 'site' in table.columns
        for tables in found.values()
        for row in tables.get(table.name, ())
    }
    db.executemany(
        'insert or ignore into site (name) values (?)',
        [(name,) for name in sorted(names)],
    )


# --- the rows that a transaction changes --------------------------------------


def watch(db: sqlite3.Connection) -> None:
    """Have this connection note what its transactions change in the record.

    Other connections are not slowed down, and the file stays the same.
    """
    db.execute('pragma temp_store = memory')
    db.executescript(_TOUCHED + ''.join(map(_triggers, TABLES)))


def touched(db: sqlite3.Connection) -> list[str]:
    """Return the keys of the documents that the transaction changed."""
    rows = db.execute('select key from touched order by key')
    return [key for (key,) in rows]


def told(
    db: sqlite3.Connection, *, every: bool = False
) -> list[tuple[Any, ...]]:
    """Return the entries that the transaction added to the history.

    :param every: True for all entries of the history
    """
    where = '' if every else ' where id in (select id from told)'
    return db.execute(
        f'select {", ".join(HISTORY)} from history{where} order by id'  # noqa: S608 (constants)
    ).fetchall()


def forget_touched(db: sqlite3.Connection) -> None:
    """Forget the noted keys."""
    db.execute('delete from touched')
    db.execute('delete from told')


def _triggers(table: _Table) -> str:
    """Return the triggers that note each change of a row of a table."""
    events = {'insert': ['new'], 'update': ['old', 'new'], 'delete': ['old']}
    found = []
    for event, rows in events.items():
        noted = ', '.join(f'({table.key(f"{row}.")})' for row in rows)
        found.append(
            f'create temp trigger {table.name}_{event} after {event}'  # noqa: S608 (constants)
            f' on main.{table.name} begin'
            f' insert or ignore into touched values {noted}; end;'
        )
    return ''.join(found)
