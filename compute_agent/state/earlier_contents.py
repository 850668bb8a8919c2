# SPDX-License-Identifier: Apache-2.0
"""Earlier contents of providers, to recognize a placement that was restored.

If placement is restored from a backup, providers have an earlier state again.
The table ``past_contents`` has a digest of a provider's contents for the
generations at which they changed; ``past_ours`` has the names and providers
that no longer count as added by this agent, with the generation up to which
they did. Both are bounded. All methods are steps of a transaction of
``journal.py``.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping

from ..plan import intents
from ..tree import assertion, provider
from .database.database import packed

KEPT = 20  # earlier contents of each provider
KEPT_NAMES = 10_000  # lost names and providers, of the whole agent
_PROVIDER = ''  # the kind of a provider itself; its name is the node's uuid


def keep_contents(
    db: sqlite3.Connection, site: int, seen: provider.Provider, content: str
) -> None:
    """Keep a provider's contents, if they differ from those before."""
    if are_kept(db, site, seen, content):
        return
    db.execute(
        'replace into past_contents values (?, ?, ?, ?)',
        (site, seen.uuid, seen.generation or 0, digest(content)),
    )
    db.execute(
        'delete from past_contents where site = :site and uuid = :uuid and'
        ' generation not in (select generation from past_contents'
        ' where site = :site and uuid = :uuid'
        ' order by generation desc limit :kept)',
        {'site': site, 'uuid': seen.uuid, 'kept': KEPT},
    )


def are_kept(
    db: sqlite3.Connection, site: int, seen: provider.Provider, content: str
) -> bool:
    """Return True if a provider's contents are the last kept ones.

    The last up to its generation: then nothing changed them since.
    """
    last = db.execute(
        'select digest from past_contents where site = ? and uuid = ?'
        ' and generation <= ? order by generation desc limit 1',
        (site, seen.uuid, seen.generation or 0),
    ).fetchone()
    return last is not None and last[0] == digest(content)


def had_contents(
    db: sqlite3.Connection, site: int, seen: provider.Provider, content: str
) -> bool:
    """Return True if a provider had these contents at this generation.

    The agent does not see every generation, so the contents may also be those
    of the next generation that it saw.
    """
    if are_kept(db, site, seen, content):
        return True
    after = db.execute(
        'select digest from past_contents where site = ? and uuid = ?'
        ' and generation > ? order by generation limit 1',
        (site, seen.uuid, seen.generation or 0),
    ).fetchone()
    return after is not None and after[0] == digest(content)


def is_last(
    db: sqlite3.Connection, site: int, seen: provider.Provider, content: str
) -> bool:
    """Return True if these are the last contents, at the same generation."""
    last = db.execute(
        'select generation, digest from past_contents'
        ' where site = ? and uuid = ? order by generation desc limit 1',
        (site, seen.uuid),
    ).fetchone()
    return bool(last == (seen.generation or 0, digest(content)))


def lose_names(
    db: sqlite3.Connection,
    uuid: str,
    kind: assertion.Kind,
    names: Iterable[str],
    generation: int,
) -> None:
    """Remember names that no longer count as added by this agent.

    :param generation: the first generation at which the names do not count
    """
    _insert(db, [(uuid, kind.value, name, generation) for name in names])


def lose_provider(
    db: sqlite3.Connection, uuid: str, generation: int | None
) -> None:
    """Remember a provider that is gone, and this agent's names on it.

    :param generation: the last known one
    """
    after = (generation or 0) + 1
    created = db.execute(
        'select node_uuid from created where uuid = ?', (uuid,)
    ).fetchall()
    ours = db.execute('select kind, name from ours where uuid = ?', (uuid,))
    _insert(
        db,
        [(uuid, kind, name, after) for kind, name in ours.fetchall()]
        + [(uuid, _PROVIDER, node, after) for (node,) in created],
    )
    # The contents of a provider that never had a name of ours prove nothing.
    db.execute(
        'delete from past_contents where uuid = :uuid and not exists'
        ' (select 1 from past_ours where uuid = :uuid)',
        {'uuid': uuid},
    )


def regain(db: sqlite3.Connection, intent: intents.Intent) -> None:
    """Drop the lost names that this agent added again."""
    if intent.kind is None:
        forget(db, intent.uuid)
    else:
        db.execute(
            'delete from past_ours where uuid = ? and kind = ? and name in'
            ' (select value from json_each(?))',
            (intent.uuid, intent.kind.value, packed(intent.added)),
        )


def lost_providers(
    db: sqlite3.Connection, uuids: Iterable[str]
) -> dict[str, int]:
    """Return the providers, among these, that this agent created once.

    Each has the first generation at which it was gone.
    """
    return dict(
        db.execute(
            'select uuid, generation from past_ours where kind = ? and uuid in'
            ' (select value from json_each(?))',
            (_PROVIDER, packed(uuids)),
        ).fetchall()
    )


def names_at(
    db: sqlite3.Connection, seen: provider.Provider
) -> Mapping[assertion.Kind, set[str]]:
    """Return the names of a provider that count, or counted, as ours.

    :param seen: the provider at an earlier generation
    """
    rows = db.execute(
        'select kind, name from ours where uuid = :uuid union all'
        ' select kind, name from past_ours'
        ' where uuid = :uuid and generation > :seen and kind != :provider',
        {
            'uuid': seen.uuid,
            'seen': seen.generation or 0,
            'provider': _PROVIDER,
        },
    ).fetchall()
    return {
        kind: {n for k, n in rows if k == kind.value} & seen.names_of(kind)
        for kind in assertion.Kind
    }


def is_lone_root(db: sqlite3.Connection, seen: provider.Provider) -> bool:
    """Return True for a root that is no node, such as a shared pool.

    Other agents may describe it too, and make it with the same requests.
    """
    return (
        seen.parent_uuid is None
        and not db.execute(
            'select exists (select 1 from node where uuid = :uuid) or exists'
            ' (select 1 from past_ours where uuid = :uuid'
            ' and kind = :provider and name = uuid)',
            {'uuid': seen.uuid, 'provider': _PROVIDER},
        ).fetchone()[0]
    )


def restore(
    db: sqlite3.Connection, site: int, seen: provider.Provider
) -> None:
    """Let the names of an earlier generation count as ours again."""
    uuid, generation = seen.uuid, seen.generation or 0
    ours = names_at(db, seen)
    db.executemany(
        'insert or ignore into ours values (?, ?, ?)',
        [
            (uuid, kind.value, name)
            for kind, names in ours.items()
            for name in names
        ],
    )
    db.execute(
        'insert or ignore into created select uuid, name from past_ours'
        ' where uuid = ? and kind = ? and generation > ?',
        (uuid, _PROVIDER, generation),
    )
    db.execute(
        'delete from past_ours where uuid = ? and generation > ?',
        (uuid, generation),
    )
    db.execute(
        'delete from past_contents where site = ? and uuid = ?'
        ' and generation > ?',
        (site, uuid, generation),
    )


def forget(db: sqlite3.Connection, uuid: str) -> None:
    """Drop the facts about an earlier provider: a new one has its uuid now."""
    db.execute('delete from past_ours where uuid = ?', (uuid,))
    db.execute('delete from past_contents where uuid = ?', (uuid,))


def digest(content: str) -> str:
    """Return a short text that differs for different contents."""
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def _insert(
    db: sqlite3.Connection, rows: list[tuple[str, str, str, int]]
) -> None:
    """Add rows to ``past_ours``, and drop the oldest ones beyond the limit."""
    if not rows:
        return
    db.executemany(
        'replace into past_ours (uuid, kind, name, generation)'
        ' values (?, ?, ?, ?)',
        rows,
    )
    dropped = db.execute(
        'delete from past_ours where position <='
        ' (select max(position) - ? from past_ours)',
        (KEPT_NAMES,),
    )
    if dropped.rowcount:
        db.execute(
            'delete from past_contents where uuid not in (select uuid from'
            ' past_ours) and uuid not in (select uuid from reading)'
        )
