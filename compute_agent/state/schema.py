# SPDX-License-Identifier: Apache-2.0
"""The file of the state database: its schema, its version, its opening.

SQLite, WAL, 0600. A file that cannot be used is a ``ConfigError`` of one line
and is never repaired or replaced in silence. Used by ``state.py`` alone.
"""

import contextlib
import os
import pathlib
import sqlite3
import stat
from collections.abc import Iterator

from .. import errors

SCHEMA_VERSION = 5
FILE_NAME = 'state.sqlite'
_MODE = 0o600

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
# Whose node a source spoke for is told by what it spoke of.
_KEEP_HELD = 'alter table held rename to held_by_any;'
_TAKE_HELD = """
insert into held select uuid, kind, source, coalesce(
    (select node_uuid from created where created.uuid = held_by_any.uuid),
    (select root_uuid from reading where reading.uuid = held_by_any.uuid
     order by read_at desc limit 1), uuid), names from held_by_any;
drop table held_by_any;
"""
# Which providers were created for a node is asked for many nodes at once; how
# many providers a placement has tells how they are best looked at.
_MANY = """
create index created_node on created (node_uuid);
alter table site add column providers integer;
alter table site add column counted_at real;
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
{_NODE}{_WAS}{_HELD}{_MANY}"""
# What makes a database of this version one of the next.
MIGRATIONS = {1: _NODE, 2: _WAS, 3: _KEEP_HELD + _HELD + _TAKE_HELD, 4: _MANY}
_PRAGMAS = ('foreign_keys = on', 'synchronous = full', 'busy_timeout = 10000')


@contextlib.contextmanager
def explained(path: pathlib.Path) -> Iterator[None]:
    """Say in one line why this file cannot be used.

    :raises errors.ConfigError: in place of any error of files or SQLite
    """
    try:
        yield
    except OSError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] state_path: {path} cannot be used: {exc.strerror}; '
            'give a directory this user may write'
        ) from exc
    except sqlite3.Error as exc:
        raise errors.ConfigError(
            f'the state database {path} cannot be used: {exc}; {advice(exc)}'
        ) from exc


def advice(exc: Exception) -> str:
    """Return what to do about a database that fails, damaged or not."""
    code = getattr(exc, 'sqlite_errorcode', None)
    damaged = code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    missing = code == sqlite3.SQLITE_ERROR  # a table, a column
    if damaged or missing or not isinstance(exc, sqlite3.Error):
        return (
            'move it away and the agent starts a new one, which only adds '
            'until it knows again what it added'
        )
    return 'see to the space, the permissions and the locks of its disk'


def make_private(path: pathlib.Path) -> None:
    """See to it that the file is there, and that no other user reads it.

    What stands beside it while it is open (-wal, -shm) gets its mode. Another
    user's file that we may write is theirs to open or close.
    """
    file = os.open(path, os.O_CREAT | os.O_RDWR, _MODE)
    try:
        found = os.fstat(file)
        if (
            stat.S_IMODE(found.st_mode) & ~_MODE
            and found.st_uid == os.geteuid()
        ):
            os.fchmod(file, _MODE)
    finally:
        os.close(file)


def connect(target: str) -> sqlite3.Connection:
    """Return a connection that threads may share; autocommit."""
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
    """Make the tables of a new database; refuse one that is not ours."""
    db.execute('begin immediate')
    if is_new(db):
        _run(db, SCHEMA, SCHEMA_VERSION)
    migrate(db)
    db.execute('commit')
    check_version(db, path)


def migrate(db: sqlite3.Connection) -> None:
    """Bring a database of an older version to this agent's, losing nothing."""
    version = _version(db)
    while version in MIGRATIONS:
        _run(db, MIGRATIONS[version], version + 1)
        version += 1


def is_new(db: sqlite3.Connection) -> bool:
    """Whether nothing is in the file yet, of ours or of anybody's."""
    version = _version(db)
    (tables,) = db.execute('select count(*) from sqlite_master').fetchone()
    return (version, tables) == (0, 0)


def check_version(db: sqlite3.Connection, path: pathlib.Path) -> None:
    """Check that the file is of the version this agent reads.

    :raises errors.ConfigError: it is not
    """
    version = _version(db)
    if version == 0:
        raise errors.ConfigError(
            f"{path} is a database, but not an agent's state: give another "
            '[DEFAULT] state_path'
        )
    if version != SCHEMA_VERSION:
        raise errors.ConfigError(
            f'the state database {path} is of version {version}, this agent '
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
