# SPDX-License-Identifier: Apache-2.0
"""The tables of the shared database, as queries use them.

``migrations/`` makes them. Names are compared byte by byte on each server, as the
agent does.

``lease`` has a row for each share. Every write to the record begins by raising
its ``beat``, so a row's beats count the writes, and a row that stands still
tells that its holder is gone. ``standby`` has a row for each agent that waits.
``node_record`` has the documents of the record, with the beat of the commit that
wrote each one, its sequence; a document that is null was deleted. The rows of the
share '' are the records of nodes that an agent gave away and no other one took yet.
``request`` has what people on any machine ask of the holder, and its answers until
they are read. ``identity`` has one row: a random name of this database, by which the
marks of two databases with shares of the same name differ.
"""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

METADATA = sa.MetaData()
_TEXT = sa.Text().with_variant(mysql.LONGTEXT, 'mysql')
_OPTIONS: dict[str, Any] = {
    'mysql_engine': 'InnoDB',
    'mysql_default_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
}
_NUMBER = sa.BigInteger().with_variant(sa.Integer, 'sqlite')


def _share() -> sa.Column[str]:
    return sa.Column('share', sa.String(200), primary_key=True)


def _member() -> list[sa.Column[Any]]:
    """Return the columns about the process of an agent; see ``lease.Member``."""
    return [
        sa.Column('host', sa.String(255), nullable=False),
        sa.Column('pid', sa.Integer, nullable=False),
        sa.Column('lease_seconds', sa.Double, nullable=False),
        sa.Column('since', sa.String(64), nullable=False),
        sa.Column('version', sa.String(64), nullable=False),
    ]


IDENTITY = sa.Table(
    'identity',
    METADATA,
    sa.Column('number', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('name', sa.String(32), nullable=False),
    **_OPTIONS,
)
LEASE = sa.Table(
    'lease',
    METADATA,
    _share(),
    sa.Column('driver', sa.String(200), nullable=False),
    sa.Column('epoch', _NUMBER, nullable=False),
    sa.Column('beat', _NUMBER, nullable=False),
    # The beat of the last commit to the record.
    sa.Column('sequence', _NUMBER, nullable=False),
    # The name is empty if the holder left.
    sa.Column('who', sa.String(64), nullable=False),
    *_member(),
    sa.Column('able', sa.Boolean, nullable=False),
    **_OPTIONS,
)
STANDBY = sa.Table(
    'standby',
    METADATA,
    _share(),
    sa.Column('who', sa.String(64), primary_key=True),
    *_member(),
    sa.Column('beat', _NUMBER, nullable=False),
    sa.Column('able', sa.Boolean, nullable=False),
    sa.Column('sequence', _NUMBER, nullable=False),
    # The beat of the share's lease when this row was written.
    sa.Column('lease_beat', _NUMBER, nullable=False),
    **_OPTIONS,
)
NODE_RECORD = sa.Table(
    'node_record',
    METADATA,
    _share(),
    sa.Column('key', sa.String(64), primary_key=True),
    sa.Column('epoch', _NUMBER, nullable=False),
    sa.Column('sequence', _NUMBER, nullable=False),
    sa.Column('document', _TEXT),
    sa.Index('node_record_sequence', 'share', 'sequence'),
    **_OPTIONS,
)
REQUEST = sa.Table(
    'request',
    METADATA,
    # The asking command makes the id, so a row that is sent twice exists once.
    sa.Column('key', sa.String(64), primary_key=True),
    sa.Column('share', sa.String(200), nullable=False),
    sa.Column('content', _TEXT, nullable=False),
    sa.Column('who', sa.String(255), nullable=False),
    sa.Column('at', sa.Double, nullable=False),
    # The epoch of the holder that took it; 0 until then.
    sa.Column('epoch', _NUMBER, nullable=False),
    sa.Column('answer', _TEXT),
    sa.Index('request_share', 'share'),
    **_OPTIONS,
)
HISTORY = sa.Table(
    'history',
    METADATA,
    _share(),
    sa.Column('sequence', _NUMBER, primary_key=True, autoincrement=False),
    sa.Column('position', sa.Integer, primary_key=True, autoincrement=False),
    # The time of the newest entry.
    sa.Column('at', sa.Double, nullable=False),
    # A list as JSON; each entry is in the order of ``state/documents.py``.
    sa.Column('entries', _TEXT, nullable=False),
    sa.Index('history_at', 'share', 'at'),
    **_OPTIONS,
)


def replacing(table: sa.Table) -> Mapping[str, sa.Insert]:
    """Return, by dialect, the statement that adds a row or replaces it."""
    others = [c.name for c in table.columns if not c.primary_key]
    keys = [c.name for c in table.primary_key]
    by_mysql = mysql.insert(table)
    by_postgresql, by_sqlite = postgresql.insert(table), sqlite.insert(table)
    return {
        'mysql': by_mysql.on_duplicate_key_update(
            {name: by_mysql.inserted[name] for name in others}
        ),
        'postgresql': by_postgresql.on_conflict_do_update(
            index_elements=keys,
            set_={name: by_postgresql.excluded[name] for name in others},
        ),
        'sqlite': by_sqlite.on_conflict_do_update(
            index_elements=keys,
            set_={name: by_sqlite.excluded[name] for name in others},
        ),
    }
