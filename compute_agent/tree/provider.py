# SPDX-License-Identifier: Apache-2.0
"""A resource provider as one value: what placement holds, or should hold.

Pure: no I/O, configuration, logging or clock. Observation makes these, the
ProviderTree is filled from them, the plan compares them, the state database
keeps them.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from .. import errors
from . import inventory


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One resource provider at one generation.

    ``generation`` is None for a provider that placement does not have yet;
    it takes no part in comparison, for it says when, not what.
    ``inventories`` maps resource class to Inventory, ``aggregates`` are uuids.
    """

    uuid: str
    name: str
    parent_uuid: str | None = None
    generation: int | None = dataclasses.field(default=None, compare=False)
    inventories: Mapping[str, inventory.Inventory] = dataclasses.field(
        default_factory=dict
    )
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return title(self.name, self.uuid)

    def whole_reserved(self) -> 'Provider':
        """Return the provider with nothing left to allocate of any class."""
        reserved = {
            rc: one.whole_reserved() for rc, one in self.inventories.items()
        }
        return dataclasses.replace(self, inventories=reserved)

    def records(self) -> dict[str, inventory.Record]:
        """Return the inventories as a tree's ``update_inventory`` takes them."""
        return {rc: one.to_record() for rc, one in self.inventories.items()}


def title(name: str, uuid: str) -> str:
    """Return how a provider is called in messages: its uuid never missing."""
    return uuid if name == uuid else f'{name} ({uuid})'


# Providers by uuid, every parent before its children.
Snapshot = Mapping[str, Provider]


def snapshot(providers: Iterable[Provider]) -> dict[str, Provider]:
    """Return these providers by uuid, parents first, otherwise as they came.

    A provider whose parent is not among them stands as a root.

    :raises errors.TreeError: some stand in a ring
    """
    given = {p.uuid: p for p in providers}
    children: dict[str | None, list[str]] = {}
    for p in given.values():
        parent = p.parent_uuid if p.parent_uuid in given else None
        children.setdefault(parent, []).append(p.uuid)
    ordered: dict[str, Provider] = {}
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        uuid = waiting.pop()
        ordered[uuid] = given[uuid]
        waiting.extend(reversed(children.get(uuid, [])))
    ring = sorted(str(p) for u, p in given.items() if u not in ordered)
    if ring:
        raise errors.TreeError(f'{", ".join(ring)} would be in a cycle')
    return ordered


def root(providers: Snapshot, uuid: str) -> Provider:
    """Return the provider above all others of one's tree, of those here."""
    one = providers[uuid]
    while one.parent_uuid in providers:
        one = providers[str(one.parent_uuid)]
    return one


def descendants(providers: Snapshot, root_uuid: str) -> list[str]:
    """Return the uuids of this provider and all below it, parents first."""
    found = {root_uuid}
    for p in providers.values():
        if p.parent_uuid in found:
            found.add(p.uuid)
    return [u for u in providers if u in found]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A provider as placement showed it, and when.

    :ivar root_uuid: the root of the tree it stood in
    :ivar read_at: seconds since the epoch
    :ivar suspect: the last list showed a lower generation than this one
    """

    provider: Provider
    root_uuid: str
    read_at: float
    suspect: bool = False

    def is_above(self, generation: int) -> bool:
        """Whether placement shows less: made anew since, or an old answer."""
        return generation < (self.provider.generation or 0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How many providers a placement had, and when they were counted.

    :ivar counted_at: seconds since the epoch
    """

    providers: int
    counted_at: float
