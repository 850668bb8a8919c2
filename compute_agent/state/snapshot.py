# SPDX-License-Identifier: Apache-2.0
"""The snapshot in the state database: what was last read of placement.

Readings of providers and the names that placement knows, kept by placement
service (``site``). All of it can be lost at the price of reading again. Each
function is one part of a look or a write that ``state.py`` begins and ends.
"""

import functools
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..tree import inventory, names, provider
from . import database


def readings(
    db: sqlite3.Connection, site: str, uuids: Iterable[str]
) -> dict[str, provider.Reading]:
    """Return what was last read of these providers, of those known."""
    found = db.execute(
        'select * from reading where site = ? and uuid in'
        ' (select value from json_each(?))',
        (_number(db, site), database.packed(uuids)),
    )
    return {row[1]: _reading(row) for row in found}


def members(
    db: sqlite3.Connection, site: str, root_uuids: Iterable[str]
) -> dict[str, set[str]]:
    """Return the providers last seen in the trees of these roots."""
    found: dict[str, set[str]] = {}
    for root_uuid, uuid in db.execute(
        'select root_uuid, uuid from reading where site = ? and root_uuid in'
        ' (select value from json_each(?))',
        (_number(db, site), database.packed(root_uuids)),
    ):
        found.setdefault(root_uuid, set()).add(uuid)
    return found


def members_anywhere(db: sqlite3.Connection, root_uuid: str) -> set[str]:
    """Return the providers whose last reading, of any site, has this root."""
    rows = db.execute(
        'select uuid, max(read_at), root_uuid from reading where uuid in'
        ' (select uuid from reading where root_uuid = ?) group by uuid',
        (root_uuid,),
    ).fetchall()
    return {uuid for uuid, _, root in rows if root == root_uuid}


def save(db: sqlite3.Connection, site: str, reading: provider.Reading) -> None:
    """Keep a reading."""
    one = reading.provider
    db.execute(
        'replace into reading values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (
            _numbered(db, site),
            one.uuid,
            reading.root_uuid,
            one.name,
            one.parent_uuid,
            one.generation,
            _content(one),
            reading.read_at,
            reading.suspect,
        ),
    )


def keep_was(
    db: sqlite3.Connection, site: str, reading: provider.Reading
) -> None:
    """Keep what was read of a provider last, if another changed it since.

    Of several changes the oldest counts, until the provider is written to.
    """
    uuid = reading.provider.uuid
    last = readings(db, site, [uuid]).get(uuid)
    if last is None or _content(last.provider) == _content(reading.provider):
        return
    db.execute(
        'insert or ignore into was values (?, ?, ?)',
        (_numbered(db, site), uuid, _content(last.provider)),
    )


def was(
    db: sqlite3.Connection, site: str, uuids: Iterable[str]
) -> dict[str, provider.Provider]:
    """Return the providers as they stood before others changed them."""
    found = db.execute(
        'select uuid, content from was where site = ? and uuid in'
        ' (select value from json_each(?))',
        (_number(db, site), database.packed(uuids)),
    )
    return {
        uuid: provider.Provider(uuid=uuid, name=uuid, **_contents(content))
        for uuid, content in found
    }


def drop_was(db: sqlite3.Connection, site: str, uuid: str) -> None:
    """Drop how a provider stood before: it was written to."""
    db.execute(
        'delete from was where site = ? and uuid = ?',
        (_number(db, site), uuid),
    )


def forget(db: sqlite3.Connection, site: str, uuid: str) -> None:
    """Drop what was read of a provider here."""
    drop_was(db, site, uuid)
    db.execute(
        'delete from reading where site = ? and uuid = ?',
        (_number(db, site), uuid),
    )


def forget_everywhere(db: sqlite3.Connection, uuid: str) -> None:
    """Drop what was read of a provider, of any site."""
    db.execute('delete from was where uuid = ?', (uuid,))
    db.execute('delete from reading where uuid = ?', (uuid,))


def last_names(db: sqlite3.Connection, uuids: Iterable[str]) -> dict[str, str]:
    """Return what providers were called when last read, anywhere."""
    found = {}
    for uuid in uuids:
        row = db.execute(
            'select name, max(read_at) from reading where uuid = ?', (uuid,)
        ).fetchone()
        if row[0] is not None:
            found[uuid] = str(row[0])
    return found


def doubt(db: sqlite3.Connection, uuid: str) -> None:
    """Have a provider read again at the next look, whatever stands still."""
    db.execute('update reading set read_at = 0 where uuid = ?', (uuid,))


def known_names(db: sqlite3.Connection, site: str) -> names.KnownNames | None:
    """Return the names this placement knew when it was last asked."""
    row = db.execute(
        'select traits, classes, read_at from known where site = ?',
        (_number(db, site),),
    ).fetchone()
    if row is None:
        return None
    return names.KnownNames(
        traits=database.unpacked(row[0]),
        resource_classes=database.unpacked(row[1]),
        read_at=float(row[2]),
    )


def save_known_names(
    db: sqlite3.Connection, site: str, known: names.KnownNames | None
) -> None:
    """Keep the names this placement knows; None forgets them."""
    db.execute('delete from known where site = ?', (_number(db, site),))
    if known is None:
        return
    db.execute(
        'insert into known values (?, ?, ?, ?)',
        (
            _numbered(db, site),
            database.packed(known.traits),
            database.packed(known.resource_classes),
            known.read_at,
        ),
    )


def size(db: sqlite3.Connection, site: str) -> provider.Size | None:
    """Return how many providers the placement had, None if not known."""
    row = db.execute(
        'select providers, counted_at from site where id = ?',
        (_number(db, site),),
    ).fetchone()
    if row is None or row[0] is None:
        return None
    return provider.Size(providers=int(row[0]), counted_at=float(row[1]))


def save_size(
    db: sqlite3.Connection, site: str, counted: provider.Size
) -> None:
    """Keep how many providers the placement has."""
    db.execute(
        'update site set providers = ?, counted_at = ? where id = ?',
        (counted.providers, counted.counted_at, _numbered(db, site)),
    )


def _number(db: sqlite3.Connection, site: str) -> int:
    """Return a site's number; 0, which none has, of one not written to."""
    query = 'select id from site where name = ?'
    row = db.execute(query, (site,)).fetchone()
    return 0 if row is None else int(row[0])


def _numbered(db: sqlite3.Connection, site: str) -> int:
    """Return a site's number, given to it if need be."""
    db.execute('insert or ignore into site (name) values (?)', (site,))
    return _number(db, site)


def _content(one: provider.Provider) -> str:
    inventories = {
        rc: list(i.to_record().values()) for rc, i in one.inventories.items()
    }
    return json.dumps(
        [inventories, sorted(one.traits), sorted(one.aggregates)]
    )


def _reading(row: Sequence[object]) -> provider.Reading:
    _, uuid, root, name, parent, generation, content, read_at, suspect = row
    return provider.Reading(
        provider=provider.Provider(
            uuid=str(uuid),
            name=str(name),
            parent_uuid=None if parent is None else str(parent),
            generation=int(str(generation)),
            **_contents(str(content)),
        ),
        root_uuid=str(root),
        read_at=float(str(read_at)),
        suspect=bool(suspect),
    )


@functools.lru_cache(maxsize=4096)
def _contents(content: str) -> Mapping[str, Any]:
    """Return a provider's fields from what ``_content`` made of them.

    Many nodes are of one kind, and share them.
    """
    inventories, traits, aggregates = json.loads(content)
    fields = list(inventory.Inventory.__dataclass_fields__)
    return {
        'inventories': {
            rc: inventory.Inventory(**dict(zip(fields, i, strict=True)))
            for rc, i in inventories.items()
        },
        'traits': frozenset(traits),
        'aggregates': frozenset(aggregates),
    }
