# SPDX-License-Identifier: Apache-2.0
"""Keep the inventory and the providers that are in use.

Pure: no I/O, configuration, logging or clock. Placement refuses to remove a
resource class, or a provider, that has allocations. The class or provider
stays until the allocations are gone, with its whole total reserved, so that
nothing more is scheduled to it. New classes of that provider wait until then.
"""

import dataclasses
from collections.abc import Mapping

from .. import error_text
from ..plan.allocations import Consumers
from ..tree import provider
from . import undeletable

_NAMED = 3  # consumers that a message names; it counts the others


def at_stake(
    before: provider.Snapshot, after: provider.Snapshot
) -> list[provider.Provider]:
    """Return the providers that lose a resource class, or are deleted."""
    return [
        one
        for uuid, one in before.items()
        if set(one.inventories)
        - set(after[uuid].inventories if uuid in after else ())
    ]


def keep_used(
    before: provider.Snapshot,
    after: provider.Snapshot,
    allocated: Mapping[str, Consumers],
    node_uuid: str = '',
) -> tuple[provider.Snapshot, list[str]]:
    """Return ``after`` with everything in use kept, and a line for each part.

    :param allocated: the consumers by class of the providers at stake
    :param node_uuid: the node's provider, which the lines do not name
    """
    used = {uuid: rcs for uuid, rcs in allocated.items() if rcs}
    gone = [uuid for uuid in used if uuid not in after]
    possible, notes = undeletable.keep_reserved(before, after, gone)
    faults = [
        _prefix(before[u], node_uuid) + _fault(used[u], 'it') for u in gone
    ]
    faults += notes
    for uuid in (u for u in used if u in after):
        old, wanted = before[uuid], after[uuid]
        kept = {
            rc: consumers
            for rc, consumers in sorted(used[uuid].items())
            if rc not in wanted.inventories
        }
        if kept:
            possible[uuid] = _with_kept(old, possible[uuid], set(kept))
            faults.append(
                _prefix(old, node_uuid)
                + _fault(kept, ', '.join(kept))
                + _waiting(old, wanted)
            )
    return provider.snapshot(possible.values()), faults


def _prefix(one: provider.Provider, node_uuid: str) -> str:
    return '' if one.uuid == node_uuid else f'{one}: '


def _with_kept(
    old: provider.Provider, wanted: provider.Provider, kept: set[str]
) -> provider.Provider:
    """Return the wanted provider with these classes kept, and no new ones."""
    return dataclasses.replace(
        wanted,
        inventories={
            rc: record.fully_reserved()
            if rc in kept
            else record.limited_to(wanted.inventories[rc])
            for rc, record in old.inventories.items()
            if rc in kept or rc in wanted.inventories
        },
    )


def _waiting(old: provider.Provider, wanted: provider.Provider) -> str:
    new = sorted(set(wanted.inventories) - set(old.inventories))
    if not new:
        return ''
    return f'; {", ".join(new)} is added when these allocations are gone'


def _fault(consumers: Consumers, subject: str) -> str:
    every = frozenset[str]().union(*consumers.values())
    return (
        f'{subject} is not removed but to be reserved, because it is '
        f'allocated to {error_text.listed(every, _NAMED)}'
    )
