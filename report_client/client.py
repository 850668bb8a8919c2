# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient: the facade the agent uses to reach placement.

It joins the four parts (observe, plan, apply, and the rules of ownership) and
holds no state of its own: what is remembered is in the store. Made in
``compute_agent/cmd``, called by the resource tracker; for other programs it is
the library's front door.
"""

from collections.abc import Callable, Iterable, Sequence

from compute_agent import (
    allocated,
    errors,
    ownership,
    provider,
    provider_tree,
)

from . import apply as applying
from . import errors as placement_errors
from . import observation, operations, placement, store
from . import observe as observing
from . import plan as planning


class SchedulerReportClient:
    """Makes placement match the trees that drivers describe (seed 004).

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which even a provider that seems
        unchanged is read again; 0 for never
    """

    def __init__(
        self,
        service: placement.Placement,
        state: store.State,
        *,
        clock: Callable[[], float],
        full_read_interval: float = 3600,
    ) -> None:
        self._state = state
        self._observer = observing.Observer(
            service, state, clock=clock, full_read_interval=full_read_interval
        )
        self._executor = applying.Executor(
            service, state, self._observer, clock=clock
        )
        self.where = service.where

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, observation.Observation | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown.

        ``GET /resource_providers`` once for all nodes, once more for sharing
        providers where there are aggregates, and three reads for each provider
        that changed since it was last read (microversion 1.30 to 1.39).

        :raises errors.AgentError: not even the list could be read
        """
        return self._observer.observe(node_uuids)

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: observation.Observation,
        policy: ownership.Policy,
    ) -> planning.Plan:
        """Return what would be sent to make placement match an edited tree.

        Every part that would be written is read afresh first, so the plan
        rests on no memory; a plan of nothing costs no request.

        :param tree: ``seen.tree()``, edited
        :raises errors.LookAgain: placement moved since ``seen``
        :raises errors.Refused: a root's name belongs to another provider
        """
        record = self._state.record(
            {*seen.providers, *tree.get_provider_uuids()}
        )
        wanted = ownership.resolve(tree, record, policy)
        after, faults = self._without_the_allocated(seen, wanted.after)
        create: tuple[operations.NameOperation, ...] = ()
        notes: list[str] = []
        if planning.adds_names(seen.providers, after):
            known = self._observer.known_names()
            after, create, notes = planning.admit(seen.providers, after, known)
        changes = planning.operations(seen.providers, after, wanted.foreign)
        self._check_names_of_roots(changes)
        self._observer.verify(
            seen,
            {
                (op.uuid, op.kind)
                for op in changes
                if isinstance(op, operations.SetOperation)
                and op.uuid in seen.providers
            },
        )
        return planning.Plan(
            node_uuid=seen.node_uuid,
            operations=(*create, *changes),
            before=seen.providers,
            held=wanted.held,
            notes=(*seen.notes, *tree.notes, *wanted.notes, *notes),
            faults=(*tree.faults, *faults),
        )

    def _without_the_allocated(
        self, seen: observation.Observation, after: provider.Snapshot
    ) -> tuple[provider.Snapshot, list[str]]:
        """Let what is allocated stay; asked only where something goes."""
        stake = allocated.at_stake(seen.providers, after)
        if not stake:
            return after, []
        consumers = self._observer.allocated(stake)
        return allocated.settle(
            seen.providers, after, consumers, seen.node_uuid
        )

    def _check_names_of_roots(
        self, changes: Iterable[operations.ProviderOperation]
    ) -> None:
        """Refuse what placement would: a host that came back as another."""
        for operation in changes:
            if not isinstance(operation, operations.CreateProvider):
                continue
            if operation.parent_uuid is not None:
                continue
            other = self._observer.holder_of(operation.name)
            if other not in {None, operation.uuid}:
                raise placement_errors.NameTaken.by(
                    str(other), operation.name, operation.uuid
                )

    def apply(self, plan: planning.Plan) -> applying.Outcome:
        """Send a plan's operations; return which were done and which refused.

        :raises errors.LookAgain: another writer came between: observe again
        :raises errors.AgentError: the node's cycle is over; what was done is
            recorded, and the next cycle goes on from there
        """
        try:
            outcome = self._executor.apply(plan)
        except placement_errors.Vanished:
            self._state.save_known_names(None)
            raise
        return outcome

    def update_from_provider_tree(
        self,
        new_tree: provider_tree.ProviderTree,
        seen: observation.Observation,
        policy: ownership.Policy,
    ) -> applying.Outcome:
        """Make placement match an edited tree: ``plan``, then ``apply``."""
        return self.apply(self.plan(new_tree, seen, policy))
