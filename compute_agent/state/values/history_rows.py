# SPDX-License-Identifier: Apache-2.0
"""An entry of the history as the row of a table, and back.

Pure: no I/O, configuration, logging or clock. Nothing but names, numbers,
causes and one line of text is kept: no option, and no URL with a password.
"""

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ... import error_text
from ...plan import removal
from ...plan.change import Change
from ...plan.history_entry import LONGEST_TEXT, Entry, KeptEntry, Result, What
from ...tree import assertion, inventory


def text(one: Entry) -> str:
    """Return the parts of an entry that have no column of their own."""
    found: dict[str, Any] = {
        'provider': one.provider,
        'kind': _kind(one.changes),
        'changes': [list(_packed(change)) for change in one.changes],
        'text': _cut(error_text.as_line(one.text)),
        'restored': sorted(one.restored),
        'approved': dict(one.approved),
    }
    return json.dumps(
        {key: value for key, value in found.items() if value},
        separators=(',', ':'),
    )


def _cut(line: str) -> str:
    """Return the beginning of a line, with a mark if something is missing."""
    if len(line) <= LONGEST_TEXT:
        return line
    return f'{line[: LONGEST_TEXT - 1]}…'


def entry(at: float, *texts: bytes) -> KeptEntry:
    """Return the entry in a row; any error says that it cannot be read."""
    dt.datetime.fromtimestamp(at, dt.UTC)  # raises for no moment
    node_uuid, uuid, by, what, result, content = (
        str(each, 'utf-8') for each in texts
    )
    return KeptEntry(
        at=at,
        entry=Entry(
            what=What(what),
            node_uuid=node_uuid,
            uuid=uuid,
            by=by,
            result=Result(result),
            **fields(content, uuid),
        ),
    )


def fields(content: str, uuid: str) -> dict[str, Any]:
    """Return the fields of an entry from their text.

    :param uuid: the provider that the entry is about
    """
    found = json.loads(content)
    kind = assertion.Kind(found['kind']) if 'kind' in found else None
    return {
        'provider': str(found.get('provider', '')),
        'changes': tuple(
            _change(row, uuid, kind) for row in found.get('changes', ())
        ),
        'text': str(found.get('text', '')),
        'restored': frozenset(map(str, found.get('restored', ()))),
        'approved': {
            str(name): str(person)
            for name, person in found.get('approved', {}).items()
        },
    }


def _kind(changes: Sequence[Change]) -> str | None:
    """Return the kind of all these changes; they have the same one."""
    return changes[0].kind if changes else None


def _packed(change: Change) -> Iterator[Any]:
    """Yield name, existed, exists, and the optional values that are set."""
    values = [
        change.name,
        int(change.existed),
        int(change.exists),
        _numbers(change.before),
        _numbers(change.after),
        None
        if change.cause is None
        else [change.cause.reason.value, *change.cause.sources],
    ]
    while values[-1] is None:
        values.pop()
    yield from values


def _numbers(record: inventory.Inventory | None) -> list[float] | None:
    return None if record is None else record.values()


def _change(
    row: Sequence[Any], uuid: str, kind: assertion.Kind | None
) -> Change:
    name, existed, exists, before, after, cause = [*row, *[None] * 3][:6]
    return Change(
        uuid=uuid,
        kind=kind,
        name=str(name),
        existed=bool(existed),
        exists=bool(exists),
        before=_record(before),
        after=_record(after),
        cause=None if cause is None else _cause(*cause),
    )


def _record(numbers: Sequence[float] | None) -> inventory.Inventory | None:
    if numbers is None:
        return None
    return inventory.Inventory.from_values(numbers)


def _cause(reason: str, *sources: str) -> removal.Cause:
    return removal.Cause(reason=removal.Reason(reason), sources=sources)
