# SPDX-License-Identifier: Apache-2.0
"""A resource provider as one value, as placement has it or should have it.

Pure: no I/O, configuration, logging or clock. Observation makes these values,
the ProviderTree is filled from them, the planner compares them and the state
database stores them.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from .. import error_text, errors
from . import assertion, inventory


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One resource provider at one generation.

    :ivar generation: None if placement does not have the provider yet; it is
        not compared, because it says when the contents were seen
    :ivar inventories: resource class → Inventory
    :ivar aggregates: uuids
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

    def fully_reserved(self) -> 'Provider':
        """Return the provider with the whole total of each class reserved."""
        reserved = {
            rc: record.fully_reserved()
            for rc, record in self.inventories.items()
        }
        return dataclasses.replace(self, inventories=reserved)

    def names_of(self, kind: assertion.Kind) -> frozenset[str]:
        """Return the provider's names of one kind."""
        if kind is assertion.Kind.TRAIT:
            return self.traits
        if kind is assertion.Kind.AGGREGATE:
            return self.aggregates
        return frozenset(self.inventories)

    def records(self) -> dict[str, inventory.Record]:
        """Return the inventories in the form that ProviderTree takes."""
        return {
            rc: record.to_record() for rc, record in self.inventories.items()
        }


def title(name: str, uuid: str) -> str:
    """Return the name of a provider for messages, always with its uuid.

    A server may give any characters; those that are not printable are escaped.
    """
    shown = uuid if name == uuid else f'{name} ({uuid})'
    return error_text.printable(shown)


# Providers by uuid, every parent before its children.
Snapshot = Mapping[str, Provider]


def snapshot(providers: Iterable[Provider]) -> dict[str, Provider]:
    """Return these providers by uuid, parents first, otherwise in order.

    A provider whose parent is not among them counts as a root.

    :raises errors.TreeError: the parents of some providers form a cycle
    """
    given = {p.uuid: p for p in providers}
    if len(given) == 1 and not any(
        p.parent_uuid in given for p in given.values()
    ):
        return given
    children: dict[str | None, list[str]] = {}
    for p in given.values():
        parent = p.parent_uuid if p.parent_uuid in given else None
        children.setdefault(parent, []).append(p.uuid)
    ordered: dict[str, Provider] = {}
    pending = list(reversed(children.get(None, [])))
    while pending:
        uuid = pending.pop()
        ordered[uuid] = given[uuid]
        pending.extend(reversed(children.get(uuid, [])))
    cycle = sorted(str(p) for u, p in given.items() if u not in ordered)
    if cycle:
        raise errors.TreeError(f'{", ".join(cycle)} would be in a cycle')
    return ordered


def root(providers: Snapshot, uuid: str) -> Provider:
    """Return the topmost of these providers in the tree of this uuid."""
    top = providers[uuid]
    while top.parent_uuid in providers:
        top = providers[str(top.parent_uuid)]
    return top


def descendants(providers: Snapshot, root_uuid: str) -> list[str]:
    """Return the uuids of this provider and all below it, parents first."""
    found = {root_uuid}
    for p in providers.values():
        if p.parent_uuid in found:
            found.add(p.uuid)
    return [u for u in providers if u in found]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A provider as placement showed it at one time.

    :ivar root_uuid: the root of its tree at that time
    :ivar read_at: seconds since the epoch
    :ivar suspect_since: since when the lists show a lower generation than
        this reading, in seconds since the epoch; 0 if the last one did not
    """

    provider: Provider
    root_uuid: str
    read_at: float
    suspect_since: float = 0.0

    @property
    def suspect(self) -> bool:
        """True if the last list showed a lower generation."""
        return self.suspect_since > 0

    def is_confirmed_by(self, later: 'Reading') -> bool:
        """Return True if a later reading differs only in generations.

        A new allocation raises the generation, and changes nothing else.
        """
        now, generation = later.provider, self.provider.generation
        return (
            not self.suspect
            and not self.is_above(now.generation or 0)
            and self.root_uuid == later.root_uuid
            and self.provider
            == dataclasses.replace(now, generation=generation)
        )

    def is_above(self, generation: int) -> bool:
        """Return True if placement now shows a lower generation.

        Then the provider was deleted and created again, or the answer is an
        old one.
        """
        return generation < (self.provider.generation or 0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The number of providers that a placement had at one time.

    :ivar counted_at: seconds since the epoch
    """

    providers: int
    counted_at: float
