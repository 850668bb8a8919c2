# SPDX-License-Identifier: Apache-2.0
"""A placement service in the state database: its names and its size.

The tables are ``site`` (placement services, and how many providers each has)
and ``known`` (the names that each knows). Another spelling of an endpoint is
another service. Methods that take a connection are steps of a transaction.
"""

import sqlite3

from ..tree import names, provider
from .database.database import Database, packed, unpacked


class Site:
    """One placement service.

    :param name: its key, which has no user and no password
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name
        self._known: names.KnownNames | None = None

    def known_names(self) -> names.KnownNames | None:
        """Return the names that placement knew when it was last asked."""
        with self._database.reading() as db:
            if self._known is None:
                self._known = self._read_known_names(db)
            return self._known

    def save_known_names(self, known: names.KnownNames | None) -> None:
        """Keep the names that placement knows; forget them if None."""
        with self._database.writing() as db:
            self._known = None
            db.execute('delete from known where site = ?', (self.id(db),))
            if known is not None:
                db.execute(
                    'insert into known values (?, ?, ?, ?)',
                    (
                        self.new_id(db),
                        packed(known.traits),
                        packed(known.resource_classes),
                        known.read_at,
                    ),
                )

    def size(self) -> provider.Size | None:
        """Return how many providers placement had, None if not known."""
        with self._database.reading() as db:
            row = db.execute(
                'select providers, counted_at from site where id = ?',
                (self.id(db),),
            ).fetchone()
            if row is None or row[0] is None:
                return None
            return provider.Size(
                providers=int(row[0]), counted_at=float(row[1])
            )

    def save_size(self, size: provider.Size) -> None:
        """Keep how many providers placement has."""
        with self._database.writing() as db:
            db.execute(
                'update site set providers = ?, counted_at = ? where id = ?',
                (size.providers, size.counted_at, self.new_id(db)),
            )

    # --- steps of a transaction -----------------------------------------------

    def id(self, db: sqlite3.Connection) -> int:
        """Return the id of the site; 0, which is never an id, if it is new."""
        query = 'select id from site where name = ?'
        row = db.execute(query, (self._name,)).fetchone()
        return 0 if row is None else int(row[0])

    def new_id(self, db: sqlite3.Connection) -> int:
        """Return the id of the site, which is added if it has none."""
        db.execute(
            'insert or ignore into site (name) values (?)', (self._name,)
        )
        return self.id(db)

    # --- inside ---------------------------------------------------------------

    def _read_known_names(
        self, db: sqlite3.Connection
    ) -> names.KnownNames | None:
        row = db.execute(
            'select traits, classes, read_at from known where site = ?',
            (self.id(db),),
        ).fetchone()
        if row is None:
            return None
        return names.KnownNames(
            traits=unpacked(row[0]),
            resource_classes=unpacked(row[1]),
            read_at=float(row[2]),
        )
