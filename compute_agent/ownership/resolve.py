# SPDX-License-Identifier: Apache-2.0
"""Whose is what: from what the sources asserted to what placement should hold.

Pure: no I/O, configuration, logging or clock. ``resolve`` takes the edited
tree and the record of earlier cycles and returns the wanted providers.
``claims.py`` settles the names of each; here is what goes by provider: which
may be written at all, which may be deleted, and what is said of it. *Ours* is
what we added, or what lies in the driver's authority. All else is others' and
is left alone.
"""

import dataclasses
from collections.abc import Collection, Mapping

from ..tree import assertion, intents, inventory, provider, provider_tree
from ..tree.assertion import Claims, Key
from ..tree.removal import NO_CAUSES, Cause, Causes, Reason
from . import claims, undeletable
from .policy import Policy
from .record import Record

_LEFT = (
    '{}: was there before this agent, and keeps {}: remove what should go '
    '("sync --prune"), or import the record of the agent that reported it '
    '("state import")'
)
_DROPPED = (
    '{}: keeps {}, which the driver no longer reports, for this agent did not '
    'add it: remove it if it should go ("sync --prune")'
)
_MASKED = '{}: not reported, masked by [compute_agent] masked_traits: {}'
_RESTORED = '{}: what was removed by another is restored: {}'
_CHANGED = '{}: what was changed by another is restored: {}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What placement should hold, and what to remember of how it came about.

    :ivar after: the wanted providers, parents first
    :ivar held: which source holds what for this node from now on, where that
        is not as recorded
    :ivar foreign: names that go although another put them there
    :ivar causes: why each name and each provider goes that does
    :ivar notes: lines for the operator: what was refused, and what to do
    """

    after: provider.Snapshot
    claims: Mapping[Key, Claims]
    foreign: Mapping[Key, frozenset[str]]
    causes: Causes = NO_CAUSES
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
        self._claims: dict[Key, Claims] = {}
        self._foreign: dict[Key, frozenset[str]] = {}
        self._causes: dict[Key, Mapping[str, Cause]] = {}
        self._notes: list[str] = []

    def resolve(self) -> Resolution:
        removed = [u for u in self._before if not self._tree.exists(u)]
        refused, notes = undeletable.refused(
            self._before, removed, self._record.created
        )
        self._notes += notes
        kept = {u: self._before[u] for u in refused}
        wanted = {}
        for uuid in self._tree.get_provider_uuids():
            before = self._before.get(uuid)
            if before is not None and not self._may_write(uuid):
                self._note_read_only(before)
                kept[uuid] = before
            else:
                wanted[uuid] = self._provider(uuid, before)
        after, notes = undeletable.settle(self._before, wanted, kept)
        self._notes += notes
        return Resolution(
            after=provider.snapshot(after.values()),
            claims=self._claims,
            foreign=self._foreign,
            causes=Causes(
                names=self._causes,
                providers={
                    uuid: self._deletion(uuid)
                    for uuid in removed
                    if uuid not in after
                },
            ),
            notes=tuple(self._notes),
        )

    def _deletion(self, uuid: str) -> Cause:
        """Return why a provider is deleted.

        ``orphans.py`` alone removes providers in the agent's own name.
        """
        source = self._tree.removed_by.get(uuid, assertion.DRIVER)
        if source == assertion.AGENT:
            return Cause(reason=Reason.NODE_GONE)
        return Cause(reason=Reason.REMOVED, sources=(source,))

    def _provider(
        self, uuid: str, before: provider.Provider | None
    ) -> provider.Provider:
        data = self._tree.data(uuid)
        one = before or provider.Provider(uuid=uuid, name=data.name)
        traits = self._settle(one, assertion.Kind.TRAIT, one.traits)
        aggregates = self._settle(
            one, assertion.Kind.AGGREGATE, one.aggregates
        )
        return provider.Provider(
            uuid=uuid,
            name=data.name,
            parent_uuid=self._parent(data, before),
            generation=before.generation if before else None,
            inventories=self._inventories(data, one),
            traits=traits.names,
            aggregates=aggregates.names,
        )

    def _may_write(self, uuid: str) -> bool:
        """Not a sharing provider that somebody else created."""
        return uuid in self._home or uuid in self._trusted

    def _note_read_only(self, before: provider.Provider) -> None:
        kinds = [k for k in assertion.Kind if self._said(before.uuid, k)]
        if kinds:
            self._notes.append(
                f'{before}: not written, for this agent did not create it; '
                f'the driver asserted its {", ".join(kinds)} all the same; '
                f'"compute-agent provider adopt {before.uuid}" lets it'
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
        current = before.inventories
        settled = self._settle(before, kind, frozenset(current))
        asserted = claims.union(
            a.names for a in self._said(data.uuid, kind).values()
        )
        wanted = {
            rc: self._policy.ratios.complete(
                rc, data.inventory[rc], current.get(rc)
            )
            if rc in asserted
            else current[rc]
            for rc in sorted(settled.names)
        }
        back = self._put_back(before, wanted)
        self._note(_CHANGED, before, back - self._left_alone(before, kind))
        return wanted

    def _put_back(
        self,
        now: provider.Provider,
        wanted: Mapping[str, inventory.Inventory],
    ) -> frozenset[str]:
        """Return the classes that will be as before another changed them."""
        was = self._record.was.get(now.uuid, now).inventories
        return frozenset(
            rc
            for rc, one in wanted.items()
            if rc in now.inventories
            and one != now.inventories[rc]
            and one == was.get(rc)
        )

    def _left_alone(
        self, one: provider.Provider, kind: assertion.Kind
    ) -> frozenset[str]:
        """Return the names that are not restored, for they are contended."""
        return frozenset(
            item.name
            for item in self._policy.contended
            if (item.uuid, item.kind) == (one.uuid, kind) and item.there
        )

    def _said(
        self, uuid: str, kind: assertion.Kind
    ) -> Mapping[str, assertion.Assertion]:
        return self._tree.assertions.get((uuid, kind), {})

    def _settle(
        self,
        one: provider.Provider,
        kind: assertion.Kind,
        before: frozenset[str],
    ) -> claims.Settled:
        """Return what one provider should carry of one kind; note it."""
        key, record = (one.uuid, kind), self._record
        part = claims.Part(
            kind=kind,
            before=before,
            said=self._said(*key),
            ours=record.ours.get(key, frozenset()),
            claims=record.claims.get(key, {}),
            others=record.claimed_for_other_nodes(key),
            was=intents.carried(record.was.get(one.uuid, one), kind),
            whole=kind is assertion.Kind.INVENTORY
            or one.uuid in self._trusted,
        )
        settled = claims.settle(part, self._policy)
        if settled.claims != part.claims:
            self._claims[key] = settled.claims
        if settled.foreign:
            self._foreign[key] = settled.foreign
        if settled.causes:
            self._causes[key] = settled.causes
        self._note_left(one, part, settled)
        self._note(_MASKED, one, settled.masked)
        restored = settled.restored - self._left_alone(one, kind)
        self._note(_RESTORED, one, restored)
        return settled

    def _note_left(
        self,
        one: provider.Provider,
        part: claims.Part,
        settled: claims.Settled,
    ) -> None:
        """Say what stays although no source holds it, when that begins."""
        if assertion.DRIVER not in part.said:
            return
        known = part.claims.get(assertion.DRIVER)
        if part.kind is assertion.Kind.INVENTORY:
            return
        if self._takes_over(one.uuid, part):
            self._note(_LEFT, one, settled.left)
        else:
            self._note(_DROPPED, one, settled.left & (known or frozenset()))

    def _takes_over(self, uuid: str, part: claims.Part) -> bool:
        """Whether the driver adds its first traits beside another's."""
        return (
            part.kind is assertion.Kind.TRAIT
            and uuid in self._home
            and uuid not in self._record.created
            and assertion.DRIVER not in part.claims
        )

    def _note(
        self, line: str, one: provider.Provider, names: Collection[str]
    ) -> None:
        if names:
            self._notes.append(line.format(one, ', '.join(sorted(names))))
