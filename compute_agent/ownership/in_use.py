# SPDX-License-Identifier: Apache-2.0
"""What stays in placement because somebody uses it.

Pure: no I/O, configuration, logging or clock. Placement refuses to remove an
inventory class, or a provider, that has allocations. Such a one stays until
they are gone, reserved as a whole so that nothing more is scheduled to it, and
what would take its place on that provider waits. Used by the report client.
"""

import dataclasses
from collections.abc import Mapping

from ..tree import provider
from . import undeletable

# The consumers of each resource class.
Consumers = Mapping[str, frozenset[str]]


def at_stake(
    before: provider.Snapshot, after: provider.Snapshot
) -> list[provider.Provider]:
    """Return the providers that lose a class, or all, between the two."""
    return [
        one
        for uuid, one in before.items()
        if set(one.inventories)
        - set(after[uuid].inventories if uuid in after else ())
    ]


def settle(
    before: provider.Snapshot,
    after: provider.Snapshot,
    allocated: Mapping[str, Consumers],
    node_uuid: str = '',
) -> tuple[provider.Snapshot, list[str]]:
    """Return what can be had while these allocations stand, and what cannot.

    :param allocated: the consumers by class of the providers at stake
    :param node_uuid: the provider that need not be named
    """
    used = {u: c for u, c in allocated.items() if c}
    staying = {
        uuid: before[uuid].whole_reserved()
        for uuid in used
        if uuid not in after
    }

    def called(uuid: str) -> str:
        return '' if uuid == node_uuid else f'{before[uuid]}: '

    faults = [called(u) + _fault(used[u], 'it') for u in staying]
    settled = dict(after)
    if staying:
        settled, notes = undeletable.settle(before, settled, staying)
        settled = {
            u: p.whole_reserved() if u not in after else p
            for u, p in settled.items()
        }
        faults += notes
    for uuid in (u for u in used if u in after):
        one, wanted = before[uuid], after[uuid]
        stuck = {
            rc: consumers
            for rc, consumers in sorted(used[uuid].items())
            if rc not in wanted.inventories
        }
        if stuck:
            settled[uuid] = _held_up(one, settled[uuid], set(stuck))
            faults.append(
                called(uuid)
                + _fault(stuck, ', '.join(stuck))
                + _waiting(one, wanted)
            )
    return provider.snapshot(settled.values()), faults


def _held_up(
    one: provider.Provider, wanted: provider.Provider, stuck: set[str]
) -> provider.Provider:
    """Return the wanted provider with only what is stuck, or smaller."""
    return dataclasses.replace(
        wanted,
        inventories={
            rc: record.whole_reserved()
            if rc in stuck
            else record.reduced_to(wanted.inventories[rc])
            for rc, record in one.inventories.items()
            if rc in stuck or rc in wanted.inventories
        },
    )


def _waiting(one: provider.Provider, wanted: provider.Provider) -> str:
    new = sorted(set(wanted.inventories) - set(one.inventories))
    return f'; {", ".join(new)} comes when that is gone' if new else ''


def _fault(consumers: Consumers, what: str) -> str:
    every = sorted(frozenset[str]().union(*consumers.values()))
    more = f' and {len(every) - 3} more' if len(every) > 3 else ''
    return (
        f'{what} is not removed but reserved, for it is allocated to '
        f'{", ".join(every[:3])}{more}'
    )
