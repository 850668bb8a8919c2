# SPDX-License-Identifier: Apache-2.0
"""The snapshot in the state database: the last readings of placement.

The tables ``reading`` (providers as last read), ``was`` (providers as they
were before others changed them) and ``lost_root`` (roots that others deleted,
until they are there again), each for its placement service. If all of it is
lost, the agent only has to read placement again. Methods that take a
connection are steps of a transaction of ``journal.py`` or ``handover.py``.

A placement service is a ``Site``. The tables ``site`` (placement services, and
how many providers each has) and ``known`` (the names that each knows) are its.
Another spelling of an endpoint is another service.
"""

import functools
import json
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..tree import inventory, names, provider
from . import earlier_contents
from .database.database import Database, packed, unpacked
from .values.cache import Cache


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
        """Keep the names that placement knows; forget them if None.

        If a host loses its power, and the names with it, they are read, or
        created, once more.
        """
        with self._database.writing(is_late=True) as db:
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
        """Return how many providers placement had; None if that is unknown."""
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
        """Return the id of the site; add the site if it is new."""
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


class Snapshot:
    """The last readings of one placement service.

    :param site: the placement service
    """

    def __init__(self, database: Database, cache: Cache, site: Site) -> None:
        self._database = database
        self._cache = cache
        self._site = site

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return the last readings of these providers, if there are any.

        The same objects are returned until the providers are written to.
        """
        wanted = list(uuids)
        cached = self._cache.readings(wanted)
        if len(cached) == len(wanted):
            return cached
        with self._database.reading() as db:
            missing = [uuid for uuid in wanted if uuid not in cached]
            read = self._read(db, missing)
            self._cache.keep_readings(read)
            return cached | read

    def members(self, root_uuids: Iterable[str]) -> dict[str, set[str]]:
        """Return the providers last seen in the trees of these roots."""
        found: dict[str, set[str]] = {}
        with self._database.reading() as db:
            for root_uuid, uuid in db.execute(
                'select root_uuid, uuid from reading where site = ?'
                ' and root_uuid in (select value from json_each(?))',
                (self._site.id(db), packed(root_uuids)),
            ):
                found.setdefault(root_uuid, set()).add(uuid)
        return found

    def lost_roots(self) -> frozenset[str]:
        """Return the roots that other writers deleted and that are gone."""
        with self._database.reading() as db:
            rows = db.execute(
                'select uuid from lost_root where site = ?',
                (self._site.id(db),),
            )
            return frozenset(uuid for (uuid,) in rows)

    # --- steps of a transaction: this placement service -----------------------

    def save(self, db: sqlite3.Connection, reading: provider.Reading) -> None:
        """Keep a reading, and its contents among the earlier ones."""
        content = _packed_contents(reading.provider)
        self._keep(db, reading, content)
        site = self._site.new_id(db)
        earlier_contents.keep_contents(db, site, reading.provider, content)

    def _keep(
        self, db: sqlite3.Connection, reading: provider.Reading, content: str
    ) -> None:
        seen, site = reading.provider, self._site.new_id(db)
        self._cache.drop(seen.uuid)
        db.execute(
            'delete from lost_root where site = ? and uuid = ?',
            (site, seen.uuid),
        )
        db.execute(
            'replace into reading values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
            (
                site,
                seen.uuid,
                reading.root_uuid,
                seen.name,
                seen.parent_uuid,
                seen.generation,
                content,
                reading.read_at,
                reading.suspect_since,
            ),
        )

    def restore(
        self, db: sqlite3.Connection, reading: provider.Reading
    ) -> None:
        """Keep the reading of a provider that has an earlier state again."""
        self._keep(db, reading, _packed_contents(reading.provider))
        self.drop_prior_state(db, reading.provider.uuid)
        earlier_contents.restore(db, self._site.id(db), reading.provider)

    def is_lost_root(self, db: sqlite3.Connection, uuid: str) -> bool:
        """Return True for a root that another writer deleted, so far as known."""
        query = 'select 1 from lost_root where site = ? and uuid = ?'
        key = (self._site.id(db), uuid)
        return db.execute(query, key).fetchone() is not None

    def is_recorded(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> bool:
        """Return True if a reading shows contents that were recorded before."""
        return earlier_contents.are_kept(
            db, self._site.id(db), seen, _packed_contents(seen)
        )

    def is_earlier_state(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> bool:
        """Return True if a provider had these contents at this generation."""
        return earlier_contents.had_contents(
            db, self._site.id(db), seen, _packed_contents(seen)
        )

    def is_last_change(
        self, db: sqlite3.Connection, seen: provider.Provider
    ) -> bool:
        """Return True if nothing changed a provider since its last change."""
        return earlier_contents.is_last(
            db, self._site.id(db), seen, _packed_contents(seen)
        )

    def generation(self, db: sqlite3.Connection, uuid: str) -> int | None:
        """Return the generation of a provider when it was last read."""
        found = self.last_reading(db, uuid)
        return None if found is None else found.provider.generation

    def last_reading(
        self, db: sqlite3.Connection, uuid: str
    ) -> provider.Reading | None:
        """Return the last reading of a provider; None if it was never read."""
        return self._read(db, [uuid]).get(uuid)

    def keep_prior_state(
        self, db: sqlite3.Connection, reading: provider.Reading
    ) -> provider.Reading | None:
        """Store a provider's last reading if it differs from the stored one.

        Another writer changed the provider in between. After several such
        changes, the oldest state is kept until this agent writes to the
        provider. Return the last reading.
        """
        uuid = reading.provider.uuid
        last = self.last_reading(db, uuid)
        if last is None:
            return None
        prior = _packed_contents(last.provider)
        if prior != _packed_contents(reading.provider):
            self._cache.drop(uuid)
            db.execute(
                'insert or ignore into was values (?, ?, ?)',
                (self._site.new_id(db), uuid, prior),
            )
        return last

    def prior_states(
        self, db: sqlite3.Connection, uuids: Iterable[str]
    ) -> dict[str, provider.Provider]:
        """Return the providers as they were before other writers' changes."""
        found = db.execute(
            'select uuid, content from was where site = ? and uuid in'
            ' (select value from json_each(?))',
            (self._site.id(db), packed(uuids)),
        )
        return {
            uuid: provider.Provider(uuid=uuid, name=uuid, **_fields(content))
            for uuid, content in found
        }

    def drop_prior_state(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop a provider's prior state, because this agent wrote to it."""
        self._cache.drop(uuid)
        db.execute(
            'delete from was where site = ? and uuid = ?',
            (self._site.id(db), uuid),
        )

    def forget(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop the readings of a provider at this placement service."""
        self.drop_prior_state(db, uuid)
        db.execute(
            'delete from reading where site = ? and uuid = ?',
            (self._site.id(db), uuid),
        )

    def lose_root(self, db: sqlite3.Connection, uuid: str) -> None:
        """Remember a root that another writer deleted."""
        db.execute(
            'replace into lost_root values (?, ?)',
            (self._site.new_id(db), uuid),
        )

    # --- steps of a transaction: every placement service ----------------------

    def members_anywhere(
        self, db: sqlite3.Connection, root_uuid: str
    ) -> set[str]:
        """Return the providers whose last reading, of any site, has this root."""
        rows = db.execute(
            'select uuid, max(read_at), root_uuid from reading where uuid in'
            ' (select uuid from reading where root_uuid = ?) group by uuid',
            (root_uuid,),
        ).fetchall()
        return {uuid for uuid, _, root in rows if root == root_uuid}

    def last_names(
        self, db: sqlite3.Connection, uuids: Iterable[str]
    ) -> dict[str, str]:
        """Return the providers' names when last read, at any site."""
        found = {}
        for uuid in uuids:
            row = db.execute(
                'select name, max(read_at) from reading where uuid = ?',
                (uuid,),
            ).fetchone()
            if row[0] is not None:
                found[uuid] = str(row[0])
        return found

    def invalidate(self, db: sqlite3.Connection, uuid: str) -> None:
        """Have a provider read again even if its generation did not move."""
        self._cache.drop(uuid)
        db.execute('update reading set read_at = 0 where uuid = ?', (uuid,))

    def forget_everywhere(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop the readings of a provider at every site."""
        self._cache.drop(uuid)
        db.execute('delete from was where uuid = ?', (uuid,))
        db.execute('delete from reading where uuid = ?', (uuid,))

    def forget_trees(
        self, db: sqlite3.Connection, uuids: Iterable[str]
    ) -> None:
        """Drop the readings of these providers, and of all in their trees.

        Another agent of the share wrote to these providers. If a child were
        read without its root, it would look as if somebody had created it.
        """
        wanted = packed(uuids)
        self._cache.clear()
        db.execute(
            'delete from was where site in (select id from site) and uuid in'
            ' (select value from json_each(?))',
            (wanted,),
        )
        db.execute(
            'delete from reading where (site, root_uuid) in (select site,'
            ' root_uuid from reading where site in (select id from site)'
            ' and uuid in (select value from json_each(?)))',
            (wanted,),
        )

    def drop_lost_root(self, db: sqlite3.Connection, uuid: str) -> None:
        """Drop the root of a node that is forgotten."""
        db.execute('delete from lost_root where uuid = ?', (uuid,))

    # --- inside ---------------------------------------------------------------

    def _read(
        self, db: sqlite3.Connection, uuids: Iterable[str]
    ) -> dict[str, provider.Reading]:
        found = db.execute(
            'select * from reading where site = ? and uuid in'
            ' (select value from json_each(?))',
            (self._site.id(db), packed(uuids)),
        )
        readings = map(_reading, found)
        return {one.provider.uuid: one for one in readings}


def _reading(row: Sequence[object]) -> provider.Reading:
    _, uuid, root, name, parent, generation, content, read_at, suspect = row
    return provider.Reading(
        provider=provider.Provider(
            uuid=sys.intern(str(uuid)),
            name=sys.intern(str(name)),
            parent_uuid=None if parent is None else sys.intern(str(parent)),
            generation=int(str(generation)),
            **_fields(str(content)),
        ),
        root_uuid=sys.intern(str(root)),
        read_at=float(str(read_at)),
        suspect_since=float(str(suspect)),
    )


def _packed_contents(seen: provider.Provider) -> str:
    """Return a provider's contents as a text for one column."""
    inventories = {rc: i.values() for rc, i in seen.inventories.items()}
    return json.dumps(
        [inventories, sorted(seen.traits), sorted(seen.aggregates)]
    )


@functools.lru_cache(maxsize=4096)
def _fields(content: str) -> Mapping[str, Any]:
    """Return a provider's fields from their text.

    Cached, because many nodes have the same contents.
    """
    inventories, traits, aggregates = json.loads(content)
    return {
        'inventories': {
            rc: inventory.Inventory.from_values(values)
            for rc, values in inventories.items()
        },
        'traits': frozenset(traits),
        'aggregates': frozenset(aggregates),
    }
