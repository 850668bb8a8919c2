# SPDX-License-Identifier: Apache-2.0
"""SchedulerReportClient: the facade the agent uses to reach placement.

It joins the four parts (observe, plan, apply, and the rules of ownership). What
must not be lost is in the store; what it remembers beside that saves work only.
Made in ``compute_agent/cmd``, called by the resource tracker; for other
programs it is the library's front door.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence

from compute_agent import (
    allocated,
    blast_radius,
    contention,
    errors,
    ownership,
    provider,
    provider_tree,
)
from compute_agent.policy import Policy

from . import allocations as alloc
from . import apply as applying
from . import (
    effects,
    fresh,
    observation,
    operations,
    placement,
    quiet,
    reader,
    store,
)
from . import errors as placement_errors
from . import moves as checking
from . import observe as observing
from . import plan as planning


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
        self._fresh = fresh.Fresh(reader.Reader(service, clock), state)
        self._executor = applying.Executor(
            service, state, self._observer, clock=clock
        )
        self._quiet = quiet.Quiet()
        self.where = service.where

    def observe(
        self, node_uuids: Sequence[str]
    ) -> dict[str, observation.Observation | errors.AgentError]:
        """Return what placement holds of each node, or why it is unknown.

        ``GET /resource_providers`` once for all nodes (in a cloud much larger
        than they are, once for each), once more for sharing providers where
        there are aggregates and what was seen of them is not enough, and three
        reads for each provider that changed since it was last read
        (microversion 1.30 to 1.39).

        :raises errors.AgentError: not even the list could be read
        """
        return self._observer.observe(node_uuids)

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
        self._observer.tend(_spoken_of(tree, seen))
        uuids = frozenset([*seen.providers, *tree.get_provider_uuids()])
        grounds = quiet.Grounds(
            seen=seen,
            uuids=uuids,
            record=self._state.record(uuids, seen.node_uuid),
            policy=policy,
            said=tree.said(),
        )
        if allocations is None and (known := self._quiet.recall(grounds)):
            return known
        return self._planned(tree, grounds, allocations)

    def unchanged(
        self, seen: observation.Observation, policy: Policy
    ) -> planning.Plan | None:
        """Return a node's last plan, if it is one of nothing that stands.

        For a node that would be described as it was when that was made: of
        all the rest is looked whether it is the same.
        """
        known = self._quiet.last(seen.node_uuid)
        if known is None:
            return None
        record = self._state.record(known.uuids, seen.node_uuid)
        return self._quiet.recall(
            dataclasses.replace(known, seen=seen, record=record, policy=policy)
        )

    def _planned(
        self,
        tree: provider_tree.ProviderTree,
        grounds: quiet.Grounds,
        allocations: alloc.Allocations | None,
    ) -> planning.Plan:
        """Make a plan; remember it if there is nothing to do."""
        seen, policy = grounds.seen, grounds.policy
        wanted = ownership.resolve(tree, grounds.record, policy)
        moves = allocations.moves() if allocations is not None else ()
        after, contended = contention.leave(
            seen.providers, wanted.after, () if moves else policy.contended
        )
        after, faults = self._without_the_allocated(seen, after, moves)
        create: tuple[operations.NameOperation, ...] = ()
        notes: list[str] = []
        adds = planning.adds_names(seen.providers, after)
        if adds:
            known = self._observer.known_names()
            after, create, notes = planning.admit(seen.providers, after, known)
        _check_moves(seen, after, moves)
        changes = planning.operations(
            seen.providers, after, wanted.foreign, moves
        )
        self._check_names_of_roots(changes, seen.node_uuid)
        self._fresh.verify(seen, _written(changes, seen))
        made = planning.Plan(
            node_uuid=seen.node_uuid,
            operations=(*create, *changes),
            before=seen.providers,
            held=wanted.held,
            notes=(*seen.notes, *tree.notes, *wanted.notes, *notes),
            faults=(*tree.faults, *faults),
            contended=contended,
        )
        if made.is_quiet() and not (adds or moves or seen.fresh):
            self._quiet.keep(grounds, made)
        else:
            self._quiet.drop(seen.node_uuid)
        return made

    def _without_the_allocated(
        self,
        seen: observation.Observation,
        after: provider.Snapshot,
        moves: checking.Moves,
    ) -> tuple[provider.Snapshot, list[str]]:
        """Let what is allocated stay; asked only where something goes.

        What moves to another provider need not stay.
        """
        stake = allocated.at_stake(seen.providers, after)
        if not stake:
            return after, []
        moved = checking.consumers(moves)
        known = seen.home if moves else frozenset[str]()
        consumers = self._fresh.allocated(
            one for one in stake if one.uuid not in known
        )
        return allocated.settle(
            seen.providers,
            after,
            {**{u: moved.get(u, {}) for u in known}, **consumers},
            seen.node_uuid,
        )

    def _check_names_of_roots(
        self,
        changes: Iterable[operations.ProviderOperation],
        node_uuid: str,
    ) -> None:
        """Refuse what placement would: a host that came back as another."""
        for operation in changes:
            if not isinstance(operation, operations.CreateProvider):
                continue
            if operation.parent_uuid is not None:
                continue
            other = self._observer.holder_of(operation.name)
            if other == operation.uuid:
                self._observer.find(node_uuid, operation.uuid)
                raise placement_errors.Exists(operation.name, operation.uuid)
            if other is not None:
                raise placement_errors.NameTaken.by(
                    str(other), operation.name, operation.uuid
                )

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
        except placement_errors.Vanished:
            self._state.save_known_names(None)
            raise
        except placement_errors.Exists as exc:
            self._observer.find(plan.node_uuid, exc.uuid)
            raise
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


def _spoken_of(
    tree: provider_tree.ProviderTree, seen: observation.Observation
) -> set[str]:
    """Return the providers outside the node's tree that somebody spoke of."""
    return {uuid for uuid, _ in tree.assertions if uuid not in seen.home}


def _check_moves(
    seen: observation.Observation,
    after: provider.Snapshot,
    moves: checking.Moves,
) -> None:
    """Refuse what placement would, before anything is sent.

    :raises errors.DriverError: it cannot be done
    """
    own = seen.home | set(provider.descendants(after, seen.node_uuid))
    problems = checking.problems(moves, after, own)
    if problems:
        raise alloc.refusal(problems)


def _written(
    changes: Iterable[operations.ProviderOperation],
    seen: observation.Observation,
) -> set[observation.Part]:
    """Return the parts that these write of what was there before."""
    parts: set[observation.Part] = set()
    for operation in changes:
        if isinstance(operation, operations.Reshape):
            parts |= {(one.uuid, one.kind) for one in operation.inventories}
        elif isinstance(operation, operations.SetOperation):
            parts.add((operation.uuid, operation.kind))
    return {part for part in parts if part[0] in seen.providers}
