# SPDX-License-Identifier: Apache-2.0
"""Entries of the history as rows of a listing.

Pure: no I/O, configuration, logging or clock. The marks are those of a plan:
+ added, - removed, ~ changed.
"""

from collections.abc import Iterable, Iterator, Mapping

from report_client.plan import render

from ...plan.change import Change
from ...plan.history_entry import Entry, KeptEntry
from . import moments

COLUMNS = (
    'Time',
    'Who',
    'Node',
    'Provider',
    'What',
    'Changes',
    'Why',
    'Result',
)
Row = tuple[object, ...]


def rows(kept: Iterable[KeptEntry], nodes: Mapping[str, str]) -> list[Row]:
    """Return a row for each entry.

    :param nodes: the names of nodes by uuid
    """
    return [
        (
            moments.shown(one.at),
            one.entry.by,
            nodes.get(one.entry.node_uuid, one.entry.node_uuid),
            one.entry.provider or one.entry.uuid,
            one.entry.what.value,
            [*marks(one.entry)],
            '; '.join(_why(one.entry)),
            one.entry.result.value,
        )
        for one in kept
    ]


def marks(entry: Entry) -> Iterator[str]:
    """Yield a mark for each name that changed."""
    for change in entry.changes:
        if change.kind is None:
            continue
        text = f'{_sign(change)}{change.name}'
        if change.exists and change.after is not None:
            text += ' ' + (
                render.record(change.after)
                if change.before is None
                else render.difference(change.before, change.after)
            )
        if change.name in entry.restored:
            text += ' (restored)'
        yield text


def _sign(change: Change) -> str:
    if not change.exists:
        return '-'
    return '~' if change.existed else '+'


def _why(entry: Entry) -> Iterator[str]:
    """Yield the causes of removals, the persons, and what else is known."""
    causes: dict[str, list[str]] = {}
    for change in entry.changes:
        if change.cause is not None:
            causes.setdefault(str(change.cause), []).append(change.name)
    for cause, names in causes.items():
        yield cause if len(causes) == 1 else f'{", ".join(names)}: {cause}'
    if entry.restored:
        yield 'it had been removed or changed'
    for person in sorted(set(entry.approved.values())):
        yield f'approved by {person}'
    if entry.text:
        yield entry.text
