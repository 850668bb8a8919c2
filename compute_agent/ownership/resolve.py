# SPDX-License-Identifier: Apache-2.0
"""Turn the sources' assertions into the providers placement should hold.

Pure: no I/O, configuration, logging or clock. ``resolve`` takes the edited
tree of a node, the record of earlier cycles and the policy, and returns the
wanted providers. ``claims.py`` decides the names of each provider, ``pools.py`` what
stays on those that belong to others, too; this module decides for each
provider if it may be deleted.
``explanations/notes.py`` writes the notes for the operator. A name is *ours*
if this agent added it or if it is in the driver's authority. All other names
belong to other writers and are left alone.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from ..plan.needs import Outsiders
from ..plan.removal import NO_CAUSES, Cause, Causes, Reason
from ..tree import assertion, inventory, provider, provider_tree
from ..tree.assertion import Assertion, Claims, Key, Kind, Named
from . import claims, pools, undeletable
from .beside_nova import given_up
from .explanations import notes
from .policy import Policy
from .record import NOTHING, Record

NO_OUTSIDERS: Outsiders = {}
_NOTHING_RESTORED = frozenset[Named]()
# Shared, because most nodes have no new claims and take no names.
NO_CLAIMS: Mapping[Key, Claims] = {}
NO_NAMES: Mapping[Key, frozenset[str]] = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The providers that placement should hold, and the reasons.

    :ivar after: the wanted providers, parents first
    :ivar claims: the claims of each source for this node from now on, where
        they differ from the record
    :ivar foreign: the names that are removed although another writer added
        them
    :ivar causes: why names and providers are removed
    :ivar needs: the pools that would lose something, and the aggregates whose
        members decide. With needs, the other fields do not count
    :ivar taken: the names on pools that count as this agent's from now on,
        until they are removed
    :ivar given_up: the items that stay, but no longer count as this agent's
    :ivar restored: the names that another writer took away or changed, and
        that are restored
    :ivar notes: lines for the operator: what the agent leaves undone, and what
        to do
    :ivar faults: lines that say why the node is not done even so
    """

    after: provider.Snapshot
    claims: Mapping[Key, Claims]
    foreign: Mapping[Key, frozenset[str]]
    causes: Causes = NO_CAUSES
    needs: Mapping[str, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    taken: Mapping[Key, frozenset[str]] = dataclasses.field(
        default_factory=dict
    )
    given_up: Record = NOTHING
    restored: frozenset[Named] = frozenset()
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def resolve(
    tree: provider_tree.ProviderTree,
    node_uuid: str,
    record: Record,
    policy: Policy,
    authors: notes.Authors = notes.NO_AUTHORS,
    outsiders: Outsiders = NO_OUTSIDERS,
) -> Resolution:
    """Return the providers that placement should hold after this cycle.

    :param authors: who changed the names that are restored
    :param outsiders: the others' providers in the aggregates of pools
    """
    before = tree.baseline
    work = _Work(tree, node_uuid, record, policy, authors, outsiders)
    removed = [u for u in before if not tree.exists(u)]
    kept, faults = work.kept(removed) if removed else ({}, [])
    wanted = {}
    for uuid in tree.get_provider_uuids():
        if work.is_renamed_pool(uuid):
            kept[uuid] = before[uuid]
            work.notes.renamed(before[uuid], tree.data(uuid).name)
        else:
            wanted[uuid] = work.wanted(uuid)
    claims = {**work.claims, **work.pools.ended()}
    after, lines = undeletable.reconcile(before, wanted, kept)
    work.notes.lines += [*lines, *work.pools.lines()]
    deletions = {u: work.deletion(u) for u in removed if u not in after}
    return Resolution(
        after=provider.snapshot(after.values()),
        claims=claims or NO_CLAIMS,
        foreign=work.foreign,
        causes=Causes(names=work.causes, providers=deletions)
        if work.causes or deletions
        else NO_CAUSES,
        needs=work.pools.needs,
        taken=work.pools.taken() or NO_NAMES,
        given_up=work.pools.given_up(claims),
        restored=frozenset(work.notes.restored) or _NOTHING_RESTORED,
        notes=tuple(work.notes.lines),
        faults=tuple(faults),
    )


class _Work:
    """The work of ``resolve``, one provider at a time."""

    def __init__(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
        policy: Policy,
        authors: notes.Authors,
        outsiders: Outsiders,
    ) -> None:
        self._tree = tree
        self._before = tree.baseline
        self._record = record
        self._policy = policy
        home = set(provider.descendants(self._before, node_uuid))
        self._trusted = record.created | {node_uuid}
        self._departed = frozenset(tree.departed)
        self.claims: dict[Key, Claims] = {}
        self.foreign: dict[Key, frozenset[str]] = {}
        self.causes: dict[Key, Mapping[str, Cause]] = {}
        self.pools = pools.Pools(self._before, home, record, outsiders)
        self.notes = notes.Notes(record, policy, home, authors)

    # --- providers ------------------------------------------------------------

    def is_renamed_pool(self, uuid: str) -> bool:
        """Return True if the driver has another name for another's pool."""
        return (
            self._is_others_pool(uuid)
            and self._before[uuid].name != self._tree.data(uuid).name
        )

    def kept(
        self, removed: Sequence[str]
    ) -> tuple[dict[str, provider.Provider], list[str]]:
        """Return the removed providers that stay, and the faults about them.

        :param removed: the providers that are not in the tree any more
        """
        before, created = self._before, self._record.created
        shared = self.pools.keep(removed)
        free = [u for u in removed if self.pools.has(u) and u not in shared]
        staying, lines = undeletable.not_ours(
            before, removed, created.union(free), shared
        )
        if not self._policy.is_companion:  # a companion keeps nova's children
            self.notes.lines += lines
        reserved, faults = undeletable.stranded(
            before,
            [
                u
                for u in staying
                if not (u in shared or self._is_novas_child(u))
            ],
            created,
        )
        kept = {u: reserved.get(u, before[u]) for u in staying}
        partly = filter(self.pools.is_partly_ours, removed)
        kept.update({u: self.without_claims(u) for u in partly})
        return kept, faults

    def deletion(self, uuid: str) -> Cause:
        """Return why a provider is deleted.

        Only ``leaving.py`` removes providers with the agent as the source.
        """
        source = self._tree.removed_by.get(uuid, assertion.DRIVER)
        if source == assertion.AGENT:
            return Cause(reason=Reason.NODE_GONE)
        if source in self._tree.departed:
            return Cause(reason=Reason.DRIVER_GONE, sources=(source,))
        return Cause(reason=Reason.REMOVED, sources=(source,))

    def wanted(self, uuid: str) -> provider.Provider:
        """Return one provider as it should be.

        If nothing changes, this is the object in the baseline; comparing the
        two is then quick.
        """
        data, before = self._tree.data(uuid), self._before.get(uuid)
        old = before or provider.Provider(uuid=uuid, name=data.name)
        made = provider.Provider(
            uuid=uuid,
            name=data.name,
            parent_uuid=self._parent(data, before),
            generation=before.generation if before else None,
            traits=self._decide(old, Kind.TRAIT),
            aggregates=self._decide(old, Kind.AGGREGATE),
            inventories=self._inventories(data, old),
        )
        return before if before is not None and made == before else made

    def without_claims(self, uuid: str) -> provider.Provider:
        """Return another writer's pool without this agent's claims."""
        old = self._before[uuid]
        classes = self._decide(old, Kind.INVENTORY)
        return dataclasses.replace(
            old,
            traits=self._decide(old, Kind.TRAIT),
            aggregates=self._decide(old, Kind.AGGREGATE),
            inventories={
                rc: one for rc, one in old.inventories.items() if rc in classes
            },
        )

    def _is_novas_child(self, uuid: str) -> bool:
        """Return True for a child that a companion gave up to nova-compute."""
        return self._policy.is_companion and uuid in given_up.novas_children(
            self._record, {uuid: self._before[uuid]}
        )

    def _parent(
        self,
        data: provider_tree.ProviderData,
        before: provider.Provider | None,
    ) -> str | None:
        """Return the parent's uuid.

        A lone root keeps the one in placement, and so does a pool that another
        writer created.
        """
        if before is not None and (
            data.uuid in self._tree.detached or self._is_others_pool(data.uuid)
        ):
            return before.parent_uuid
        return data.parent_uuid

    def _is_others_pool(self, uuid: str) -> bool:
        return self.pools.has(uuid) and uuid not in self._record.created

    # --- names ----------------------------------------------------------------

    def assertions(self, uuid: str, kind: Kind) -> Mapping[str, Assertion]:
        """Return the sources' assertions; of a removed pool, no names."""
        if not self._tree.exists(uuid):
            sources = self._record.claims.get((uuid, kind), {})
            return dict.fromkeys(sources, Assertion(declared=True))
        return self._tree.assertions.get((uuid, kind), {})

    def _decide(self, old: provider.Provider, kind: Kind) -> frozenset[str]:
        """Return one provider's names of one kind; record the outcome."""
        key, before = (old.uuid, kind), old.names_of(kind)
        asserted = self.assertions(*key)
        decided = asserted or self._record.concerns(key)
        prunes = self._policy.orders.prune and not self.pools.has(old.uuid)
        if not (decided or prunes):
            return before
        claimed = self._record.claims.get(key, {})
        if claims.are_as_recorded(
            kind, before, asserted, claimed, self._policy
        ):
            return before
        inputs = self._inputs(old, kind, asserted)
        decision = claims.decide(inputs, self._policy)
        if inputs.is_pool:
            pruned = self._policy.orders.prune
            going = frozenset(decision.causes).difference(pruned)
            if going and self.pools.keep_names(key, going):
                decision = decision.without_removals(going)
        if decision.claims != inputs.claims:
            self.claims[key] = decision.claims
        if decision.foreign:
            self.foreign[key] = decision.foreign
        if decision.causes:
            self.causes[key] = decision.causes
        self.notes.decided(old, inputs, decision)
        return decision.names

    def _inputs(
        self,
        old: provider.Provider,
        kind: Kind,
        asserted: Mapping[str, Assertion],
    ) -> claims.Inputs:
        key, record = (old.uuid, kind), self._record
        before = old.names_of(kind)
        seen = record.was.get(old.uuid)
        return claims.Inputs(
            kind=kind,
            before=before,
            assertions=asserted,
            ours=self.pools.ours(key),
            claims=record.claims.get(key, {}),
            claimed_for_others=record.claimed_for_other_nodes(key),
            last_seen=before if seen is None else seen.names_of(kind),
            departed=self._departed,
            lists_are_complete=kind is Kind.INVENTORY
            or old.uuid in self._trusted,
            is_pool=self.pools.has(old.uuid),
        )

    def _inventories(
        self,
        data: provider_tree.ProviderData,
        old: provider.Provider,
    ) -> Mapping[str, inventory.Inventory]:
        """Return the wanted inventories, with the operator's ratios.

        If they equal the current ones, the current mapping is returned, with
        placement's ratios.
        """
        current = old.inventories
        names = self._decide(old, Kind.INVENTORY)
        asserted = claims.union(
            a.names for a in self.assertions(old.uuid, Kind.INVENTORY).values()
        )
        wanted = {
            rc: self._policy.ratios.complete(
                rc, data.inventory[rc], current.get(rc)
            )
            if rc in asserted
            else current[rc]
            for rc in sorted(names)
        }
        if wanted == current:
            return current
        self.notes.changed(old, self._restored_classes(old, wanted))
        return wanted

    def _restored_classes(
        self,
        now: provider.Provider,
        wanted: Mapping[str, inventory.Inventory],
    ) -> frozenset[str]:
        """Return the classes to restore after another writer's changes."""
        if not now.inventories:
            return frozenset()
        last_seen = self._record.was.get(now.uuid, now).inventories
        return frozenset(
            rc
            for rc, record in wanted.items()
            if rc in now.inventories
            and record != now.inventories[rc]
            and record == last_seen.get(rc)
        )
