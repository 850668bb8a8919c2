# SPDX-License-Identifier: Apache-2.0
"""The removed providers that cannot be deleted, and the effects of that.

Pure: no I/O, configuration, logging or clock. A provider that may not be
deleted keeps its name and the providers above it. A provider that would take
that name is not created; if it exists, it keeps its old name and its old
place. ``resolve.py`` and ``in_use.py`` use this.
"""

import dataclasses
from collections.abc import Container, Mapping, Sequence

from ..tree import provider

Providers = dict[str, provider.Provider]


def not_ours(
    before: provider.Snapshot,
    removed: Sequence[str],
    created: Container[str],
) -> tuple[list[str], list[str]]:
    """Return the removed providers that are not ours to delete, and notes.

    All providers above such a provider stay too, because placement has no
    provider without its parent.

    :param removed: the uuids of removed providers, parents first; the result
        has this order
    :param created: the providers that this agent created or adopted
    """
    staying: set[str] = set()
    for uuid in reversed(removed):
        if uuid not in created or uuid in staying:
            staying.add(uuid)
            parent = before[uuid].parent_uuid
            if parent in removed:
                staying.add(str(parent))
    notes = [
        f'{before[uuid]}: not deleted, and neither are the providers above '
        'it, because this agent did not create it; if it should go, run '
        f'"compute-agent provider adopt {uuid}"'
        for uuid in removed
        if uuid not in created
    ]
    return [uuid for uuid in removed if uuid in staying], notes


def reconcile(
    before: provider.Snapshot, wanted: Providers, kept: Providers
) -> tuple[Providers, list[str]]:
    """Return the providers that can exist together, and notes on the others.

    Each round gives up the wanted providers that need the name of a provider
    that stays, or a parent that was given up. The loop ends, because each
    round gives up at least one provider.

    :param wanted: the providers that should exist, by uuid
    :param kept: the providers that stay as they are in ``before``
    """
    after, staying, notes = dict(wanted), dict(kept), list[str]()
    for one in (*wanted.values(), *kept.values()):
        _add(staying, _missing_above(before, one, wanted))
    while True:
        holders = {one.name: one for one in staying.values()}
        impossible = [
            one
            for one in after.values()
            if one.name in holders
            or (one.parent_uuid in wanted and one.parent_uuid not in after)
        ]
        if not impossible:
            return {**after, **staying}, notes
        for one in impossible:
            del after[one.uuid]
            notes.append(_note(before, one, holders.get(one.name)))
            _add(staying, _as_before(before, one, after))


def _add(staying: Providers, more: Mapping[str, provider.Provider]) -> None:
    """Let more providers stay, with the contents that they have already."""
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
        else 'its parent could not be created or renamed either'
    )
    return f'{one}: not {verb}, because {why}'


def _as_before(
    before: provider.Snapshot,
    one: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return a provider with its old name and parent, and its ancestors.

    A provider that does not exist yet is left out.
    """
    old = before.get(one.uuid)
    if old is None:
        return {}
    back = dataclasses.replace(one, name=old.name, parent_uuid=old.parent_uuid)
    return {one.uuid: back, **_missing_above(before, back, after)}


def _missing_above(
    before: provider.Snapshot,
    one: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return the ancestors of this provider that ``after`` lacks."""
    found = {}
    above = before.get(str(one.parent_uuid))
    while above is not None and above.uuid not in after:
        found[above.uuid] = above
        above = before.get(str(above.parent_uuid))
    return found
