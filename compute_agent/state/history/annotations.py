# SPDX-License-Identifier: Apache-2.0
"""The additions of the state database to an entry: restored, approved, repeated.

The writer of an entry knows the request and its result. The database knows
more: what the provider had before another writer changed it, who approved a
removal, and if the same refusal is in the history already. All functions are
steps of a transaction of ``history.py``.
"""

import dataclasses
import sqlite3
from collections.abc import Iterator, Mapping

from ... import error_text
from ...limits import approval
from ...plan.change import Change
from ...plan.history_entry import OTHERS, Entry, Result, What
from ...tree import provider
from ..values import history_rows


def annotated(
    db: sqlite3.Connection, entry: Entry, prior: provider.Snapshot
) -> Entry:
    """Return an entry with the names that were restored or approved.

    :param prior: the providers as they were before others changed them
    """
    if entry.by or entry.result is not Result.DONE:
        return entry
    restored = frozenset(_restored(db, entry, prior.get(entry.uuid)))
    approved = _approved(db, entry)
    if not restored and not approved:
        return entry
    return dataclasses.replace(entry, restored=restored, approved=approved)


def is_repeated(db: sqlite3.Connection, entry: Entry) -> bool:
    """Return True if the last entry like this one has the same bad result.

    An import of the same record is repeated, too: it changes nothing.
    """
    if entry.what is What.IMPORTED:
        return _is_here(db, entry.uuid)
    if entry.result is Result.DONE or not entry.uuid:
        return False
    last = db.execute(
        'select result, content from history where uuid = ? and what = ?'
        ' and by != ? order by id desc limit 1',
        (entry.uuid, entry.what, OTHERS),
    ).fetchone()
    return last is not None and last == (
        entry.result,
        history_rows.text(plain(entry)),
    )


def _is_here(db: sqlite3.Connection, uuid: str) -> bool:
    """Return True if a node's record came here and did not leave."""
    last = db.execute(
        'select what from history where uuid = ? and what in (?, ?)'
        ' order by id desc limit 1',
        (uuid, What.IMPORTED, What.EXPORTED),
    ).fetchone()
    return bool(last == (What.IMPORTED,))


def plain(entry: Entry) -> Entry:
    """Return an entry without the ids of requests, which always differ."""
    text = error_text.without_request_ids(entry.text)
    return dataclasses.replace(entry, text=text)


def _restored(
    db: sqlite3.Connection, entry: Entry, prior: provider.Provider | None
) -> Iterator[str]:
    """Yield the names that are again as they were before another's change.

    The empty name stands for a provider that another writer had deleted.
    """
    if entry.what is What.CREATED and _was_deleted(db, entry.uuid):
        yield ''
    if prior is not None:
        for change in entry.changes:
            if change.exists and change.is_in(prior):
                yield change.name


def _was_deleted(db: sqlite3.Connection, uuid: str) -> bool:
    last = db.execute(
        'select what, by from history where uuid = ? and what in (?, ?)'
        ' order by id desc limit 1',
        (uuid, What.CREATED, What.DELETED),
    ).fetchone()
    return bool(last == (What.DELETED, OTHERS))


def _approved(db: sqlite3.Connection, entry: Entry) -> Mapping[str, str]:
    """Return the persons who approved these removals, by name."""
    wanted = {
        (subject.kind.value, subject.digest): name
        for name, subject in _subjects(entry)
    }
    if not wanted:
        return {}
    return {
        wanted[kind, digest]: str(who)
        for kind, digest, who in db.execute(
            'select kind, digest, who from approval'
        )
        if (kind, digest) in wanted
    }


def _subjects(entry: Entry) -> Iterator[tuple[str, approval.Subject]]:
    """Yield everything in an entry that a person may have approved."""
    if entry.what is What.FIRST_WRITE:
        kind = approval.Kind.FIRST_WRITE
        yield '', approval.subject(kind, (entry.uuid,))
    for change in entry.changes:
        if change.kind is None and change.is_removal:
            for departed in (True, False):
                yield (
                    '',
                    approval.deletion(change.uuid, departed=departed),
                )
        elif change.kind is not None and change.is_removal:
            yield (
                change.name,
                approval.name_removal((change.uuid, change.kind, change.name)),
            )
        if change.before is not None and _falls(change):
            total = change.after.total if change.after else 0
            place = change.uuid, change.name
            yield change.name, approval.capacity_fall(place, total)


def _falls(change: Change) -> bool:
    after = change.after.total if change.after else 0
    return change.before is not None and after < change.before.total
