# SPDX-License-Identifier: Apache-2.0
"""Whose is what: from what the sources asserted to what placement should hold.

Pure: no I/O, configuration, logging or clock. ``resolve`` takes the edited
tree and the record of earlier cycles and returns the wanted providers. The
rules: a source holds what it asserts; what it does not visit stays as it is; a
name goes when it is ours and nobody holds it any more, when it is removed by
name, or when an exclusive source of our own provider leaves it out. *Ours* is
what we added, or what lies in the driver's authority. All else is others' and
is left alone.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from . import (
    assertion,
    errors,
    inventory,
    names,
    provider,
    provider_tree,
    standing,
)
from .ratios import Ratios

_AUTHORITY = re.compile(r'[A-Z0-9_]{1,254}[A-Z0-9_*]')

Key = tuple[str, assertion.Kind]
Held = Mapping[str, frozenset[str]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What earlier cycles left behind, of the providers in question.

    :ivar created: uuids of the providers this agent created or adopted
    :ivar ours: the names it added, by provider and kind
    :ivar held: the names each source asserted when it last visited
    """

    created: frozenset[str] = frozenset()
    ours: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    held: Mapping[Key, Held] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides beside the tree: the driver's authority and the ratios."""

    node_uuid: str
    authority: Sequence[str] = ()
    ratios: Ratios = dataclasses.field(default_factory=Ratios)

    def __post_init__(self) -> None:
        """Refuse an authority that would claim what nobody meant.

        :raises errors.DriverError: it is not names and prefixes
        """
        given = self.authority
        wrong = (
            [given]
            if isinstance(given, str)
            else [a for a in given if not _AUTHORITY.fullmatch(str(a))]
        )
        if wrong:
            raise errors.DriverError(
                f'authority {wrong[0]!r} is neither a trait nor a prefix such '
                'as HW_CPU_*; give a sequence of those'
            )

    def decides(self, name: str) -> bool:
        """Whether the driver alone decides this trait."""
        return not _protected(name) and any(
            name.startswith(a[:-1]) if a.endswith('*') else name == a
            for a in self.authority
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What placement should hold, and what to remember of how it came about.

    :ivar after: the wanted providers, parents first
    :ivar held: who holds what from now on, where that is not as recorded
    :ivar foreign: names that go although another put them there
    :ivar notes: lines for the operator: what was refused, and what to do
    """

    after: provider.Snapshot
    held: Mapping[Key, Held]
    foreign: Mapping[Key, frozenset[str]]
    notes: tuple[str, ...] = ()


def resolve(
    tree: provider_tree.ProviderTree, record: Record, policy: Policy
) -> Resolution:
    """Return what placement should hold after this cycle's assertions."""
    return _Resolver(tree, record, policy).resolve()


class _Resolver:
    """The work of ``resolve``, one provider at a time."""

    def __init__(
        self,
        tree: provider_tree.ProviderTree,
        record: Record,
        policy: Policy,
    ) -> None:
        self._tree = tree
        self._before = tree.baseline
        self._record = record
        self._policy = policy
        self._home = set(provider.descendants(self._before, policy.node_uuid))
        self._trusted = record.created | {policy.node_uuid}
        self._held: dict[Key, Held] = {}
        self._foreign: dict[Key, frozenset[str]] = {}
        self._notes: list[str] = []

    def resolve(self) -> Resolution:
        kept = {u: self._before[u] for u in self._refused_removals()}
        wanted = {}
        for uuid in self._tree.get_provider_uuids():
            before = self._before.get(uuid)
            if before is not None and not self._may_write(uuid):
                self._note_read_only(before)
                kept[uuid] = before
            else:
                wanted[uuid] = self._provider(uuid, before)
        after, notes = standing.settle(self._before, wanted, kept)
        self._notes += notes
        return Resolution(
            after=provider.snapshot(after.values()),
            held=self._held,
            foreign=self._foreign,
            notes=tuple(self._notes),
        )

    def _provider(
        self, uuid: str, before: provider.Provider | None
    ) -> provider.Provider:
        data = self._tree.data(uuid)
        empty = before or provider.Provider(uuid=uuid, name=data.name)
        traits = self._settle(uuid, assertion.Kind.TRAIT, empty.traits)
        aggregates = self._settle(
            uuid, assertion.Kind.AGGREGATE, empty.aggregates
        )
        return provider.Provider(
            uuid=uuid,
            name=data.name,
            parent_uuid=self._parent(data, before),
            generation=before.generation if before else None,
            inventories=self._inventories(data, empty),
            traits=traits,
            aggregates=aggregates,
        )

    def _may_write(self, uuid: str) -> bool:
        """Not a sharing provider that somebody else created."""
        return uuid in self._home or uuid in self._trusted

    def _note_read_only(self, before: provider.Provider) -> None:
        kinds = [k for k in assertion.Kind if self._said(before.uuid, k)]
        if kinds:
            self._notes.append(
                f'{before}: not written, for this agent did not create it; '
                f'the driver asserted its {", ".join(kinds)} all the same'
            )

    def _parent(
        self,
        data: provider_tree.ProviderData,
        before: provider.Provider | None,
    ) -> str | None:
        """A lone root of the tree may well have a parent in placement."""
        if before is not None and data.uuid in self._tree.lone:
            return before.parent_uuid
        return data.parent_uuid

    def _inventories(
        self,
        data: provider_tree.ProviderData,
        before: provider.Provider,
    ) -> dict[str, inventory.Inventory]:
        kind = assertion.Kind.INVENTORY
        held = before.inventories
        classes = self._settle(data.uuid, kind, frozenset(held))
        asserted = frozenset[str]().union(
            *(a.names for a in self._said(data.uuid, kind).values())
        )
        return {
            rc: self._policy.ratios.complete(
                rc, data.inventory[rc], held.get(rc)
            )
            if rc in asserted
            else held[rc]
            for rc in sorted(classes)
        }

    def _said(
        self, uuid: str, kind: assertion.Kind
    ) -> Mapping[str, assertion.Assertion]:
        return self._tree.assertions.get((uuid, kind), {})

    def _settle(
        self, uuid: str, kind: assertion.Kind, before: frozenset[str]
    ) -> frozenset[str]:
        """Return the names of one kind that the provider should carry."""
        key, said = (uuid, kind), self._said(uuid, kind)
        ours = self._record.ours.get(key, frozenset())
        held = _held_after(said, self._record.held.get(key, {}))
        holders = _union(held.values())
        if held != self._record.held.get(key, {}):
            self._held[key] = held
        gone = {n for n in before & ours if n not in holders}
        gone |= _union(a.removed for a in said.values()) & before - holders
        spoken = said.get(assertion.DRIVER)
        if kind is assertion.Kind.TRAIT and spoken and not spoken.keep:
            gone |= {n for n in before - holders if self._policy.decides(n)}
        if self._excludes(uuid, kind, said.values()):
            gone |= {
                n for n in before - holders if n in ours or not _protected(n)
            }
        if self._takes_over(key):
            self._note_left(uuid, before - gone - holders)
        elif kind is not assertion.Kind.INVENTORY and spoken:
            known = self._record.held.get(key, {}).get(
                assertion.DRIVER, frozenset()
            )
            self._note_dropped(uuid, (known & before) - gone - holders)
        foreign = frozenset(
            n for n in gone if n not in ours and not self._decides(kind, n)
        )
        if foreign:
            self._foreign[key] = foreign
        return (before - gone) | _union(a.names for a in said.values())

    def _takes_over(self, key: Key) -> bool:
        """Whether the driver adds its first traits beside another's."""
        uuid, kind = key
        return (
            kind is assertion.Kind.TRAIT
            and uuid in self._home
            and uuid not in self._record.created
            and assertion.DRIVER in self._said(uuid, kind)
            and assertion.DRIVER not in self._record.held.get(key, {})
        )

    def _note_left(self, uuid: str, left: frozenset[str]) -> None:
        some = ', '.join(sorted(n for n in left if not _protected(n)))
        if some:
            self._notes.append(
                f'{self._before[uuid]}: was there before this agent, and '
                f'keeps {some}: remove by hand what should go, or import the '
                'record of the agent that reported it ("state import")'
            )

    def _note_dropped(self, uuid: str, left: frozenset[str]) -> None:
        some = ', '.join(sorted(n for n in left if not _protected(n)))
        if some:
            self._notes.append(
                f'{self._before[uuid]}: keeps {some}, which the driver no '
                'longer reports, for this agent did not add it: remove it by '
                'hand if it should go'
            )

    def _decides(self, kind: assertion.Kind, name: str) -> bool:
        return kind is assertion.Kind.TRAIT and self._policy.decides(name)

    def _excludes(
        self,
        uuid: str,
        kind: assertion.Kind,
        said: Iterable[assertion.Assertion],
    ) -> bool:
        """Whether what no source holds is to go: an update_* that may."""
        if not any(a.exclusive and not a.keep for a in said):
            return False
        inventory_kind = kind is assertion.Kind.INVENTORY
        return inventory_kind or uuid in self._trusted

    def _refused_removals(self) -> list[str]:
        """The removed providers that are not ours to delete, parents first.

        With one that is not ours, all above it stay as well: placement has no
        provider without its parent.
        """
        removed = [u for u in self._before if not self._tree.exists(u)]
        refused: set[str] = set()
        for uuid in reversed(removed):
            one = self._before[uuid]
            if uuid not in self._record.created or uuid in refused:
                refused.add(uuid)
                if one.parent_uuid in removed:
                    refused.add(str(one.parent_uuid))
        for uuid in removed:
            if uuid in refused and uuid not in self._record.created:
                self._notes.append(
                    f'{self._before[uuid]}: not deleted, nor what is above '
                    'it, for this agent did not create it; delete it in '
                    'placement if it should go'
                )
        return [u for u in removed if u in refused]


def _held_after(
    said: Mapping[str, assertion.Assertion], before: Held
) -> dict[str, frozenset[str]]:
    after = dict(before)
    for source, one in said.items():
        kept = before.get(source, frozenset()) if one.keep else frozenset()
        after[source] = (kept | one.names) - one.removed
    return after


def _protected(name: str) -> bool:
    """Traits that no claim to the whole takes away: others decide by them."""
    disabled = name == names.COMPUTE_STATUS_DISABLED
    return disabled or name.startswith(names.OWNER_PREFIX)


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)
