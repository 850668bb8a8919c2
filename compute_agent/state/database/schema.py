# SPDX-License-Identifier: Apache-2.0
"""The file of the state database: schema, version, migrations, permissions.

SQLite, WAL, 0600. A file that cannot be used raises a ``ConfigError`` of one
line; it is never repaired or replaced silently. Used by ``database.py``.
The tables ``held`` and ``was`` keep their names, so that the schema stays:
``held`` has the claims, ``was`` the providers before others changed them.

Earlier releases stored the address of a placement service as the operator
wrote it, and it may contain a user and a password. These are removed when the
database is opened.
"""

import contextlib
import os
import pathlib
import sqlite3
from collections.abc import Iterator

from ... import error_text, errors, private_files

SCHEMA_VERSION = 11
FILE_NAME = 'state.sqlite'
# SQLite's files beside the database; it has the first two open.
OPEN_BESIDE = ('-wal', '-shm')
_SUFFIXES = (*OPEN_BESIDE, '-journal')

_NODE = """
create table node (
    uuid text primary key, name text not null, title text not null,
    driver text not null, answer text, asked_at real not null)
    without rowid;
"""
_WAS = """
create table was (
    site integer, uuid text, content text not null,
    primary key (site, uuid)) without rowid;
"""
_HELD = """
create table held (
    uuid text, kind text, source text, node_uuid text, names text not null,
    primary key (uuid, kind, source, node_uuid)) without rowid;
"""
# Version 3 did not keep the node of a claim: the provider leads to it.
_KEEP_HELD = 'alter table held rename to held_by_any;'
_TAKE_HELD = """
insert into held select uuid, kind, source, coalesce(
    (select node_uuid from created where created.uuid = held_by_any.uuid),
    (select root_uuid from reading where reading.uuid = held_by_any.uuid
     order by read_at desc limit 1), uuid), names from held_by_any;
drop table held_by_any;
"""
# The index serves the query for the providers created for many nodes. ``site``
# keeps the number of providers, which decides how they are listed.
_MANY = """
create index created_node on created (node_uuid);
alter table site add column providers integer;
alter table site add column counted_at real;
"""
# ``approval`` has the approvals that no cycle used yet, ``past_…`` the past of
# providers, and ``taken_over`` the providers of other writers that a person
# allowed this agent to write; ``undone`` has what other writers undid, and
# ``lost_root`` the roots that they deleted. A node's row says when it left its
# list.
_VERSION_6 = """
create table agreed_name (uuid text primary key, name text not null)
    without rowid;
create table past_contents (
    site integer, uuid text, generation integer, digest text not null,
    primary key (site, uuid, generation)) without rowid;
create table past_ours (
    position integer primary key, uuid text not null, kind text not null,
    name text not null, generation integer not null,
    unique (uuid, kind, name));
create table approval (
    kind text, digest text, given_at real not null, who text not null,
    primary key (kind, digest)) without rowid;
alter table node add column left_at real;
alter table node add column left_of integer not null default 0;
create table taken_over (uuid text primary key) without rowid;
create table undone (
    uuid text, kind text, name text, content text not null,
    primary key (uuid, kind, name)) without rowid;
create table lost_root (site integer, uuid text, primary key (site, uuid))
    without rowid;
"""
# ``size`` bounds the history without reading its entries; see ``history/``.
_HISTORY = """
create table history (
    id integer primary key, at real not null, node_uuid text not null,
    uuid text not null, by text not null, what text not null,
    result text not null, content text not null, size integer not null);
create index history_uuid on history (uuid);
"""
# The number of writes; see ``write_count.py``.
_WRITTEN = """
create table written (writes integer not null);
insert into written values (0);
"""
# ``shared`` tells which state of a fleet's record this copy has; ``doubted`` has
# the providers whose names count as this agent's only if nothing changed them.
_SHARED = """
create table shared (
    place text not null, sequence integer not null,
    is_older integer not null);
insert into shared values ('', 0, 0);
create table doubted (uuid text primary key) without rowid;
"""
# The nodes whose removals were held as a mass; see ``state/approvals.py``.
_MASS = """
create table mass (
    kind text, node_uuid text, nodes integer not null,
    of_nodes integer not null, primary key (kind, node_uuid)) without rowid;
"""
# The id of this agent; see ``make_id``.
_AGENT = 'create table agent (id text not null);\n'
_MAKE_ID = (
    'insert into agent select hex(randomblob(6))'
    ' where not exists (select 1 from agent)'
)
# Before version 6, the agent wrote to every root without a question.
_KEEP_WRITING = """
insert into taken_over select uuid from held union select uuid from ours;
"""
SCHEMA = f"""
create table site (id integer primary key, name text unique not null);
create table created (uuid text primary key, node_uuid text not null)
    without rowid;
create table ours (
    uuid text, kind text, name text,
    primary key (uuid, kind, name)) without rowid;
create table intent (
    node_uuid text, position integer, uuid text not null,
    kind text, generation integer not null, names text not null,
    added text not null, primary key (node_uuid, position))
    without rowid;
create index intent_uuid on intent (uuid);
create table reading (
    site integer, uuid text, root_uuid text not null, name text not null,
    parent_uuid text, generation integer not null, content text not null,
    read_at real not null, suspect integer not null,
    primary key (site, uuid)) without rowid;
create index reading_root on reading (site, root_uuid);
create table known (
    site integer primary key, traits text not null, classes text not null,
    read_at real not null);
{_NODE}{_WAS}{_HELD}{_MANY}{_VERSION_6}{_HISTORY}{_WRITTEN}{_SHARED}{_MASS}
{_AGENT}"""
# Version → the statements that turn it into the next version.
MIGRATIONS = {
    1: _NODE,
    2: _WAS,
    3: _KEEP_HELD + _HELD + _TAKE_HELD,
    4: _MANY,
    5: _VERSION_6 + _KEEP_WRITING,
    6: _HISTORY,
    7: _WRITTEN,
    8: _SHARED,
    9: _MASS,
    10: _AGENT,
}
_PRAGMAS = ('foreign_keys = on', 'synchronous = full', 'busy_timeout = 10000')


@contextlib.contextmanager
def explained(path: pathlib.Path) -> Iterator[None]:
    """Turn errors of files and of SQLite into one line.

    :raises errors.ConfigError: the file cannot be used
    """
    try:
        with private_files.explained(path):
            yield
    except sqlite3.Error as exc:
        raise errors.ConfigError(
            f'the state database {path} cannot be used: {exc}; {advice(exc)}'
        ) from exc


def advice(exc: Exception) -> str:
    """Return advice to the operator about a database error."""
    code = getattr(exc, 'sqlite_errorcode', None)
    damaged = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    missing = code == sqlite3.SQLITE_ERROR  # a table, a column
    if damaged or missing or not isinstance(exc, sqlite3.Error):
        return (
            'move it away and the agent starts a new one; the agent then only '
            'adds until it knows again what it had added'
        )
    return 'check the space, the permissions and the locks of its disk'


def make_private(path: pathlib.Path) -> None:
    """Create the file if it is missing, and close it to other users.

    SQLite gives the files beside it (-wal, -shm) the same mode, and opens them
    by name, so they are checked here.

    :raises errors.ConfigError: one of the files is a link, or belongs to
        another user
    """
    for suffix in _SUFFIXES:
        private_files.check_file(path.with_name(path.name + suffix))
    os.close(private_files.open_file(path))


def check_links(path: pathlib.Path) -> None:
    """Check that the files of a database that is only read are no links.

    Root may read the database of the daemon's user.

    :raises errors.ConfigError: one of the files is a link
    """
    for suffix in ('', *_SUFFIXES):
        private_files.check_not_link(path.with_name(path.name + suffix))


def connect(target: str) -> sqlite3.Connection:
    """Return a connection in autocommit mode that threads may share."""
    db = sqlite3.connect(
        target,
        uri=target.startswith('file:'),
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for pragma in _PRAGMAS:
            db.execute(f'pragma {pragma}')
    except BaseException:
        db.close()
        raise
    return db


def prepare(db: sqlite3.Connection, path: pathlib.Path) -> None:
    """Create or migrate the tables; refuse a database that is not ours.

    :raises errors.ConfigError: the database is another program's, or of a
        newer version
    """
    db.execute('begin immediate')
    if is_new(db):
        _run(db, SCHEMA, SCHEMA_VERSION)
    migrate(db)
    check_version(db, path)
    make_id(db)
    db.execute('commit')
    if has_credentials(db):
        db.execute('pragma secure_delete = on')
        db.execute('begin immediate')
        remove_credentials(db)
        db.execute('commit')
        erase_freed_pages(db)


def migrate(db: sqlite3.Connection) -> None:
    """Migrate a database of an older version; nothing is lost."""
    version = _version(db)
    while version in MIGRATIONS:
        _run(db, MIGRATIONS[version], version + 1)
        version += 1


def make_id(db: sqlite3.Connection) -> None:
    """Give the agent an id if it has none."""
    db.execute(_MAKE_ID)


def is_new(db: sqlite3.Connection) -> bool:
    """True if the database has no tables and no version."""
    version = _version(db)
    (tables,) = db.execute('select count(*) from sqlite_master').fetchone()
    return (version, tables) == (0, 0)


def check_version(db: sqlite3.Connection, path: pathlib.Path) -> None:
    """Check that the database has the version that this agent reads.

    :raises errors.ConfigError: the database has another version
    """
    version = _version(db)
    if version == 0:
        raise errors.ConfigError(
            f'{path} is a database of another program: give another '
            '[DEFAULT] state_path'
        )
    if version != SCHEMA_VERSION:
        raise errors.ConfigError(
            f'the state database {path} has version {version}, and this agent '
            f'reads version {SCHEMA_VERSION}: run the agent that wrote it, or '
            'give another [DEFAULT] state_path'
        )


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute('pragma user_version').fetchone()
    return int(version)


def _run(db: sqlite3.Connection, statements: str, version: int) -> None:
    for statement in statements.split(';'):
        db.execute(statement)
    db.execute(f'pragma user_version = {version}')


_OF_SITES = (
    'reading',
    'was',
    'known',
    'past_contents',
)  # with the snapshot of a service


def has_credentials(db: sqlite3.Connection) -> bool:
    """Return True if a name in the database has a user or a password."""
    return bool(_renamed(db))


def remove_credentials(db: sqlite3.Connection) -> None:
    """Rename these services; a snapshot that is there twice is dropped.

    The caller commits.
    """
    for name, new in _renamed(db):
        taken = db.execute('select id from site where name = ?', (new,))
        if taken.fetchone() is None:
            db.execute('update site set name = ? where name = ?', (new, name))
            continue
        for table in _OF_SITES:
            db.execute(
                f'delete from {table} where site = '  # noqa: S608 (a constant)
                '(select id from site where name = ?)',
                (name,),
            )
        db.execute('delete from site where name = ?', (name,))


def erase_freed_pages(db: sqlite3.Connection) -> None:
    """Remove what was deleted from the file and its log, outside of writes."""
    db.execute('vacuum')
    db.execute('pragma wal_checkpoint(truncate)')


def _renamed(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return the names with credentials, and the names without them."""
    names = [str(row[0]) for row in db.execute('select name from site')]
    return [
        (name, new)
        for name in names
        if (new := error_text.without_credentials(name)) != name
    ]
