# SPDX-License-Identifier: Apache-2.0
"""What can be had beside the providers that stay although they should go.

Pure: no I/O, configuration, logging or clock. A provider that may not be
deleted keeps its name and what is above it; one that would take that name is
not created, or stays as and where it was, and then holds its old name itself.
Used by ``resolve.py``.
"""

import dataclasses
from collections.abc import Container, Sequence

from ..tree import provider

Providers = dict[str, provider.Provider]


def refused(
    before: provider.Snapshot,
    removed: Sequence[str],
    created: Container[str],
) -> tuple[list[str], list[str]]:
    """Return the removed providers that are not ours to delete, and why.

    With one that is not ours, all above it stay as well: placement has no
    provider without its parent.

    :param removed: their uuids, parents first, as are those returned
    """
    staying: set[str] = set()
    for uuid in reversed(removed):
        if uuid not in created or uuid in staying:
            staying.add(uuid)
            parent = before[uuid].parent_uuid
            if parent in removed:
                staying.add(str(parent))
    notes = [
        f'{before[uuid]}: not deleted, nor what is above it, for this agent '
        f'did not create it; "compute-agent provider adopt {uuid}" lets it, '
        'if it should go'
        for uuid in removed
        if uuid not in created
    ]
    return [u for u in removed if u in staying], notes


def settle(
    before: provider.Snapshot, wanted: Providers, kept: Providers
) -> tuple[Providers, list[str]]:
    """Return the providers that can stand together, and what was given up.

    :param wanted: what should be there, by uuid
    :param kept: what stays as it is in ``before``
    """
    after, staying, notes = dict(wanted), dict(kept), list[str]()
    for one in (*wanted.values(), *kept.values()):
        _add(staying, _above(before, one, wanted))
    while True:
        holders = {one.name: one for one in staying.values()}
        stuck = [
            one
            for one in after.values()
            if one.name in holders
            or (one.parent_uuid in wanted and one.parent_uuid not in after)
        ]
        if not stuck:
            return {**after, **staying}, notes
        for one in stuck:
            del after[one.uuid]
            notes.append(_note(before, one, holders.get(one.name)))
            _add(staying, _as_it_was(before, one, after))


def _add(staying: Providers, more: Providers) -> None:
    """Let more stay; what stays already may not be as before inside."""
    for uuid, one in more.items():
        staying.setdefault(uuid, one)


def _note(
    before: provider.Snapshot,
    one: provider.Provider,
    holder: provider.Provider | None,
) -> str:
    verb = 'renamed' if one.uuid in before else 'created'
    why = (
        f'{holder} has that name and stays'
        if holder
        else 'neither is what should be above it'
    )
    return f'{one}: not {verb}, for {why}'


def _as_it_was(
    before: provider.Snapshot,
    one: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return a provider under its old name, and what is to go above it."""
    old = before.get(one.uuid)
    if old is None:
        return {}
    back = dataclasses.replace(one, name=old.name, parent_uuid=old.parent_uuid)
    return {one.uuid: back, **_above(before, back, after)}


def _above(
    before: provider.Snapshot,
    one: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return what was above a provider and would be missing there."""
    found = {}
    above = before.get(str(one.parent_uuid))
    while above is not None and above.uuid not in after:
        found[above.uuid] = above
        above = before.get(str(above.parent_uuid))
    return found
