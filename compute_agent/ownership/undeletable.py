# SPDX-License-Identifier: Apache-2.0
"""The removed providers that cannot be deleted, and the effects of that.

Pure: no I/O, configuration, logging or clock. A provider that may not be
deleted keeps its name and the providers above it. A provider that would take
that name is not created; if it exists, it keeps its old name and its old
place. ``resolve.py``, ``in_use.py`` and ``held_back.py`` use this.
"""

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence

from ..tree import provider, provider_tree

Providers = dict[str, provider.Provider]


def not_ours(
    before: provider.Snapshot,
    removed: Sequence[str],
    created: Container[str],
    shared: Container[str] = (),
) -> tuple[list[str], list[str]]:
    """Return the removed providers that are not ours to delete, and notes.

    All providers above such a provider stay too, because placement has no
    provider without its parent.

    :param removed: the uuids of removed providers, parents first; the result
        has this order
    :param created: the providers that this agent created or adopted
    :param shared: the pools that stay, about which ``pools.py`` has notes
    """
    staying: set[str] = set()
    for uuid in reversed(removed):
        if uuid not in created or uuid in staying or uuid in shared:
            staying.add(uuid)
            parent = before[uuid].parent_uuid
            if parent in removed:
                staying.add(str(parent))
    notes = [
        f'{before[uuid]}: not deleted, and neither are the providers above '
        'it, because this agent did not create it; if it should go, run '
        f'"compute-agent resource provider adopt {uuid}"'
        for uuid in removed
        if uuid not in created
        and uuid not in shared
        and not is_derived(before, uuid)
    ]
    return [uuid for uuid in removed if uuid in staying], notes


def stranded(
    before: provider.Snapshot,
    staying: Sequence[str],
    created: Container[str],
) -> tuple[Providers, list[str]]:
    """Return the agent's own providers that stay, reserved, and faults.

    The driver removed them, so nothing more may be scheduled to them. Besides
    the providers that the agent created, these are providers with the uuid
    that the agent derives for a child: it created them, but lost its record.
    Providers of other writers stay as they are.

    :param staying: the removed providers that are not deleted
    """
    reserved, faults = dict[str, provider.Provider](), list[str]()
    for uuid in staying:
        if uuid in created:
            below = provider.descendants(before, uuid)
            others = [before[u] for u in below if u not in created]
            faults.append(_blocked(before[uuid], others))
        elif is_derived(before, uuid):
            faults.append(_unrecorded(before[uuid]))
        else:
            continue
        reserved[uuid] = before[uuid].fully_reserved()
    return reserved, faults


def is_derived(before: provider.Snapshot, uuid: str) -> bool:
    """Return True if a provider has the uuid that the agent derives for it."""
    member = before[uuid]
    return (
        member.parent_uuid is not None
        and uuid == provider_tree.derived_uuid(member.parent_uuid, member.name)
    )


def _blocked(
    member: provider.Provider, others: Sequence[provider.Provider]
) -> str:
    titles = ', '.join(str(other) for other in others)
    advice = ' and '.join(
        f'"compute-agent resource provider adopt {other.uuid}"'
        for other in others
    )
    return (
        f'{member}: the driver removed it, but it is not deleted, because '
        f'this agent did not create {titles} below it; {reservation([member])}; '
        'delete or move what is below it, or let this agent delete that too: '
        f'run {advice}'
    )


def _unrecorded(member: provider.Provider) -> str:
    return (
        f'{member}: the driver removed it, but it is not deleted, because '
        f'this agent has no record that it created it; {reservation([member])}; '
        'to let this agent delete it, run "compute-agent resource provider '
        f'adopt {member.uuid}"'
    )


def reservation(found: Iterable[provider.Provider]) -> str:
    """Return the clause about the inventory of providers that stay, reserved.

    A plan is told before its writes, which can be refused or wait. So the
    clause says that the inventory is reserved only if it is reserved in
    placement.

    :param found: the providers as they are in placement
    """
    done = all(member == member.fully_reserved() for member in found)
    return (
        f'its inventory {"is" if done else "is to be"} reserved, so that '
        'nothing more is scheduled to it'
    )


def keep_reserved(
    before: provider.Snapshot,
    after: provider.Snapshot,
    uuids: Iterable[str],
) -> tuple[Providers, list[str]]:
    """Return ``after`` with some of the deleted providers, and notes.

    These, and the providers that stay because of them, are fully reserved, so
    that nothing more is scheduled to them.

    :param uuids: the deleted providers that stay
    """
    kept = {uuid: before[uuid].fully_reserved() for uuid in uuids}
    if not kept:
        return dict(after), []
    possible, notes = reconcile(before, dict(after), kept)
    return {
        uuid: member if uuid in after else member.fully_reserved()
        for uuid, member in possible.items()
    }, notes


def reconcile(
    before: provider.Snapshot, wanted: Providers, kept: Providers
) -> tuple[Providers, list[str]]:
    """Return the providers that placement can hold together, and notes.

    Each round gives up the wanted providers that need the name of a provider
    that stays, or a parent that was given up. The loop ends, because each
    round gives up at least one provider.

    :param wanted: the providers that should exist, by uuid
    :param kept: the providers that stay, as they are in ``before`` or reserved
    """
    after, staying, notes = dict(wanted), dict(kept), list[str]()
    for member in (*wanted.values(), *kept.values()):
        _add(staying, _missing_above(before, member, wanted))
    while True:
        holders = {member.name: member for member in staying.values()}
        impossible = [
            member
            for member in after.values()
            if member.name in holders
            or (
                member.parent_uuid in wanted
                and member.parent_uuid not in after
            )
        ]
        if not impossible:
            return {**after, **staying}, notes
        for member in impossible:
            del after[member.uuid]
            notes.append(_note(before, member, holders.get(member.name)))
            _add(staying, _as_before(before, member, after))


def _add(staying: Providers, more: Mapping[str, provider.Provider]) -> None:
    """Let more providers stay, with the contents that they have already."""
    for uuid, member in more.items():
        staying.setdefault(uuid, member)


def _note(
    before: provider.Snapshot,
    member: provider.Provider,
    holder: provider.Provider | None,
) -> str:
    verb = 'renamed' if member.uuid in before else 'created'
    why = (
        f'{holder} has that name and stays'
        if holder
        else 'its parent could not be created or renamed either'
    )
    return f'{member}: not {verb}, because {why}'


def _as_before(
    before: provider.Snapshot,
    member: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return a provider with its old name and parent, and its ancestors.

    A provider that does not exist yet is left out.
    """
    old = before.get(member.uuid)
    if old is None:
        return {}
    back = dataclasses.replace(
        member, name=old.name, parent_uuid=old.parent_uuid
    )
    return {member.uuid: back, **_missing_above(before, back, after)}


def _missing_above(
    before: provider.Snapshot,
    member: provider.Provider,
    after: provider.Snapshot,
) -> Providers:
    """Return the ancestors of this provider that ``after`` lacks."""
    found = {}
    above = before.get(str(member.parent_uuid))
    while above is not None and above.uuid not in after:
        found[above.uuid] = above
        above = before.get(str(above.parent_uuid))
    return found
