# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient: the facade the agent uses to reach placement.

It joins observe, plan and apply. What must not be lost is in the store; what is
remembered beside that saves work only.
Made in ``compute_agent/cmd``, called by the resource tracker; for other
programs it is the library's front door.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from compute_agent import errors
from compute_agent.limits import blast_radius, contention
from compute_agent.ownership.policy import Policy
from compute_agent.tree import provider_tree

from . import errors as placement_errors
from .apply import executor as applying
from .http import placement
from .observe import observation, reader, store, verify
from .observe import observer as observing
from .operations import allocations as alloc
from .operations import effects, operations
from .plan import diff as planning
from .plan import planner


class SchedulerReportClient:
    """Makes placement match the trees that drivers describe (seed 004).

    :param clock: seconds since the epoch
    :param full_read_interval: seconds after which even a provider that seems
        unchanged is read again; 0 for never
    :param sharing_interval: seconds for which sharing providers that this
        agent says nothing of are taken to be what they were; 0 to ask in each
        cycle
    :param workers: how many nodes are read at a time
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
    ) -> None:
        self._state = state
        self._observer = observing.Observer(
            service,
            state,
            clock=clock,
            full_read_interval=full_read_interval,
            sharing_interval=sharing_interval,
            workers=workers,
        )
        self._fresh = verify.Fresh(reader.Reader(service, clock), state)
        self._executor = applying.Executor(
            service, state.journal, self._observer, clock=clock
        )
        self._planner = planner.Planner(
            state.records, self._observer, self._fresh
        )
        self.where = service.where

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, observation.Observation | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown.

        ``GET /resource_providers`` once for all nodes (in a cloud much larger
        than they are, once for each), once more for sharing providers where
        there are aggregates and what was seen of it is not enough, and three
        reads for each provider that changed since it was last read
        (microversion 1.30 to 1.39). What is recorded of these nodes is read
        too, and after an answer what was away before is tried again.

        :raises errors.AgentError: not even the list could be read
        """
        with self._executor.looking():
            seen = self._observer.observe(node_uuids)
        self._state.records.preload(
            {
                uuid: frozenset(one.providers)
                for uuid, one in seen.items()
                if isinstance(one, observation.Observation)
            }
        )
        return seen

    def invalidate(self) -> None:
        """Ask for sharing providers in the next look, however lately seen."""
        self._observer.invalidate()

    def allocations(self, seen: observation.Observation) -> alloc.Allocations:
        """Return what is allocated of a node's own tree, for its driver.

        ``GET /resource_providers/{uuid}/allocations`` for each provider and
        ``GET /allocations/{consumer}`` (1.28) for each consumer.

        :raises errors.LookAgain: placement moved since ``seen``
        """
        return self._fresh.allocations(seen)

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: observation.Observation,
        policy: Policy,
        allocations: alloc.Allocations | None = None,
    ) -> planning.Plan:
        """Return what would be sent to make placement match an edited tree.

        Every part that would be written is read afresh first, so the plan
        rests on no memory; a plan of nothing costs no request.

        :param tree: ``seen.tree()``, edited
        :param allocations: ``allocations(seen)``, edited with it; None if the
            driver moves nothing that is allocated
        :raises errors.DriverError: what it made of those cannot be done
        :raises errors.LookAgain: placement moved since ``seen``
        :raises errors.Refused: a root's name belongs to another provider
        """
        return self._planner.plan(tree, seen, policy, allocations)

    def unchanged(
        self, seen: observation.Observation, policy: Policy
    ) -> planning.Plan | None:
        """Return a node's last plan, if it is one of nothing that stands.

        For a node that would be described as it was when that was made: of
        all the rest is looked whether it is the same.
        """
        return self._planner.unchanged(seen, policy)

    def apply(
        self,
        plan: planning.Plan,
        without: Collection[operations.Operation] = (),
    ) -> applying.Outcome:
        """Send a plan's operations; return which were done and which refused.

        :param without: operations that were refused just now: they are left,
            with what depends on them
        :raises errors.LookAgain: another writer came between: observe again
        :raises errors.AgentError: the node's cycle is over; what was done is
            recorded, and the next cycle goes on from there
        """
        try:
            outcome = self._executor.apply(plan, without)
        except placement_errors.NotFound:
            self._state.snapshot.save_known_names(None)
            raise
        except placement_errors.Exists as exc:
            self._observer.watch_provider(plan.node_uuid, exc.uuid)
            raise
        finally:
            self._observer.invalidate()
        return outcome

    def removals(self, plan: planning.Plan) -> blast_radius.Removals:
        """Return what a plan removes."""
        return effects.removals(plan.operations)

    def changes(
        self, applied: Iterable[operations.Operation]
    ) -> frozenset[contention.Item]:
        """Return what these operations make of each item they change."""
        return effects.changes(applied)

    def update_from_provider_tree(
        self,
        new_tree: provider_tree.ProviderTree,
        seen: observation.Observation,
        policy: Policy,
    ) -> applying.Outcome:
        """Make placement match an edited tree: ``plan``, then ``apply``."""
        return self.apply(self.plan(new_tree, seen, policy))
