# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient: the facade through which the agent reaches placement.

It joins observe, plan and apply. The store keeps everything that must not be
lost; other data in memory only saves work. ``compute_agent/cmd`` makes the
client, and the cycles call it. For other programs it is the entry point of the
library.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from compute_agent import errors
from compute_agent.plan import allocations as alloc
from compute_agent.plan.diff import diff
from compute_agent.plan.needs import NOTHING, Known, Needs
from compute_agent.plan.observation import Observation
from compute_agent.plan.plan import Outcome, Plan, Wanted
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.inventory import Ratios

from .apply import executor as applying
from .http import placement
from .observe import fallen, reader, store, verify
from .observe import observer as observing


class SchedulerReportClient:
    """Makes placement match the trees that drivers describe.

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which even a provider that seems
        unchanged is read again; 0 for never
    :param sharing_interval: seconds for which the list of other writers'
        sharing providers is reused; 0 to ask in each cycle
    :param workers: the number of nodes that are read at a time
    :param fall_wait: seconds for which a lower generation may be a late answer
    """

    def __init__(
        self,
        service: placement.Placement,
        state: store.State,
        *,
        clock: Callable[[], float],
        full_read_interval: float = 3600,
        sharing_interval: float = 300,
        workers: int = 1,
        fall_wait: float = fallen.WAIT,
    ) -> None:
        self._observer = observing.Observer(
            service,
            state,
            clock=clock,
            full_read_interval=full_read_interval,
            sharing_interval=sharing_interval,
            workers=workers,
            fall_wait=fall_wait,
        )
        self._verifier = verify.Verifier(reader.Reader(service, clock), state)
        self._executor = applying.Executor(
            service,
            state.journal,
            self._observer,
            self._verifier,
            clock=clock,
        )
        self.where = service.where

    def observe(
        self, node_uuids: Sequence[str]
    ) -> Mapping[str, Observation | errors.AgentError]:
        """Return each node's providers, or why they are unknown.

        ``GET /resource_providers`` once for all nodes (in a cloud that is much
        larger than these nodes, once for each), once more for sharing
        providers where there are aggregates and the last answer is too old,
        and three reads for each provider that changed since it was last read
        (microversion 1.30 to 1.39). If the circuit breaker was open, an answer
        closes it.

        :raises errors.AgentError: not even the list could be read
        """
        with self._executor.observing():
            return self._observer.observe(node_uuids)

    def broken(self) -> str:
        """Return why the circuit breaker is open; empty while it is closed."""
        return self._executor.broken()

    def invalidate(self) -> None:
        """Ask placement for sharing providers again at the next ``observe``."""
        self._observer.invalidate()

    def watch_sharing(self, uuids: Iterable[str]) -> None:
        """Ask for these sharing providers at every ``observe`` from now on."""
        self._observer.watch_sharing(uuids)

    def forget_except(self, node_uuids: Collection[str]) -> None:
        """Drop everything kept in memory about other nodes.

        Call it while nothing is observed or applied. Without these calls, the
        memory grows with each node that ever was. The state database keeps
        its records.
        """
        self._observer.forget_except(node_uuids)

    def allocations(self, seen: Observation) -> alloc.Allocations:
        """Return all allocations of a node's own tree, for its driver to edit.

        ``GET /resource_providers/{uuid}/allocations`` for each provider and
        ``GET /allocations/{consumer}`` (1.28) for each consumer.

        :raises errors.Replan: placement changed since ``seen``
        """
        return self._verifier.allocations(seen)

    def read(self, needs: Needs) -> Known:
        """Return the facts that a decision about a node lacks.

        ``GET /resource_providers/{uuid}/allocations`` for each provider whose
        consumers it needs; ``GET /traits`` (1.6) and ``GET /resource_classes``
        (1.2) for the names, unless they are remembered; and ``GET
        /resource_providers?name=`` for a new root, unless the last list tells
        that its name is free.

        :raises errors.Replan: placement changed since the node was observed
        :raises errors.Refused: a new root's name belongs to another provider
        """
        consumers = self._verifier.consumers(needs.consumers)
        names = self._observer.names.known() if needs.names else None
        for uuid, name in needs.roots.items():
            self._observer.check_new_root(needs.node_uuid, uuid, name)
        return Known(
            consumers=consumers, names=names, roots=frozenset(needs.roots)
        )

    def plan(self, seen: Observation, wanted: Wanted) -> Plan:
        """Return the operations that lead to the wanted providers.

        The plan may depend on cached data; ``verify`` and ``apply`` check that.
        An empty plan costs no request.

        :raises errors.DriverError: the moves of allocations cannot be done
        :raises errors.Refused: a root's name belongs to another provider
        """
        known = NOTHING
        while isinstance(plan := diff.plan(seen, wanted, known), Needs):
            known = known.plus(self.read(plan))
        return plan

    def verify(self, plan: Plan) -> None:
        """Read again every part that a plan would write, without writing it.

        ``apply`` reads each part just before its write; this is for a plan
        that is only shown.

        :raises errors.Replan: placement changed since the plan's observation
        """
        parts = {part for op in plan.operations for part in op.parts}
        for uuid, kind in sorted(parts - plan.fresh):
            if uuid in plan.before:
                self._verifier.verify(plan.before[uuid], kind)

    def apply(self, plan: Plan, without: Collection[object] = ()) -> Outcome:
        """Send a plan's operations; return the outcome.

        Each part of a provider is read again just before it is written, unless
        it was read in this cycle.

        :param without: operations that were refused before; they are not
            sent, and neither is an operation that depends on one of them
        If another writer changed a provider in between, the outcome has the
        conflict, and all operations that do not depend on it are done: observe
        again. If an error ended the apply early, the outcome has it; the
        operations carried out are recorded, and the next cycle continues from
        there.
        """
        return self._executor.apply(plan, without)

    def update_from_provider_tree(
        self, new_tree: provider_tree.ProviderTree, seen: Observation
    ) -> Outcome:
        """Make placement match an edited tree: plan, then apply.

        As in nova, placement gets exactly the contents of the tree: this
        method ignores ownership and records no claims. The agent resolves the
        ownership and applies a plan of its own.

        :param new_tree: ``seen.tree()``, edited
        :param seen: one of the observations that ``observe`` returned
        :raises errors.Replan: another writer changed a provider in between:
            observe again. The operations that do not depend on it are done.
        :raises errors.AgentError: the update ended early; the operations
            carried out are recorded
        """
        self.watch_sharing(seen.asserted_elsewhere(new_tree))
        wanted = Wanted(
            after=_described(new_tree, seen),
            notes=(*seen.notes, *new_tree.notes),
            faults=tuple(new_tree.faults),
        )
        try:
            return self.apply(self.plan(seen, wanted)).completed()
        finally:
            self.invalidate()


def _described(
    tree: provider_tree.ProviderTree, seen: Observation
) -> provider.Snapshot:
    """Return the providers as an edited tree describes them."""
    return provider.snapshot(
        _provider(tree, uuid, seen.providers.get(uuid))
        for uuid in tree.get_provider_uuids()
    )


def _provider(
    tree: provider_tree.ProviderTree,
    uuid: str,
    before: provider.Provider | None,
) -> provider.Provider:
    """Return one provider of a tree; an omitted ratio stays as it is."""
    data = tree.data(uuid)
    current = before.inventories if before is not None else {}
    parent_uuid = data.parent_uuid
    if before is not None and uuid in tree.detached:
        parent_uuid = before.parent_uuid  # it is outside of this tree
    return provider.Provider(
        uuid=uuid,
        name=data.name,
        parent_uuid=parent_uuid,
        generation=data.generation,
        inventories={
            rc: Ratios().complete(rc, record, current.get(rc))
            for rc, record in data.inventory.items()
        },
        traits=frozenset(data.traits),
        aggregates=frozenset(data.aggregates),
    )
