# SPDX-License-Identifier: Apache-2.0
"""The snapshot in the state database: what was last read of placement.

Readings of providers and the names that placement knows, kept by placement
service (``site``). All of it can be lost at the price of reading again. Each
function is one part of a look or a write that ``state.py`` begins and ends.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from . import inventory, names, provider, state_database


def readings(
    db: sqlite3.Connection, site: str, uuids: Iterable[str]
) -> dict[str, provider.Reading]:
    """Return what was last read of these providers, of those known."""
    number, found = _number(db, site), {}
    for uuid in uuids:
        row = db.execute(
            'select * from reading where site = ? and uuid = ?',
            (number, uuid),
        ).fetchone()
        if row is not None:
            found[uuid] = _reading(row)
    return found


def members(db: sqlite3.Connection, site: str, root_uuid: str) -> set[str]:
    """Return the providers last seen in the tree of this root."""
    rows = db.execute(
        'select uuid from reading where site = ? and root_uuid = ?',
        (_number(db, site), root_uuid),
    ).fetchall()
    return {uuid for (uuid,) in rows}


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


def forget(db: sqlite3.Connection, site: str, uuid: str) -> None:
    """Drop what was read of a provider here."""
    db.execute(
        'delete from reading where site = ? and uuid = ?',
        (_number(db, site), uuid),
    )


def forget_everywhere(db: sqlite3.Connection, uuid: str) -> None:
    """Drop what was read of a provider, of any site."""
    db.execute('delete from reading where uuid = ?', (uuid,))


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
        traits=state_database.unpacked(row[0]),
        resource_classes=state_database.unpacked(row[1]),
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
            state_database.packed(known.traits),
            state_database.packed(known.resource_classes),
            known.read_at,
        ),
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
    inventories, traits, aggregates = json.loads(str(content))
    fields = list(inventory.Inventory.__dataclass_fields__)
    return provider.Reading(
        provider=provider.Provider(
            uuid=str(uuid),
            name=str(name),
            parent_uuid=None if parent is None else str(parent),
            generation=int(str(generation)),
            inventories={
                rc: inventory.Inventory(**dict(zip(fields, i, strict=True)))
                for rc, i in inventories.items()
            },
            traits=frozenset(traits),
            aggregates=frozenset(aggregates),
        ),
        root_uuid=str(root),
        read_at=float(str(read_at)),
        suspect=bool(suspect),
    )
