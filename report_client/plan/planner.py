# SPDX-License-Identifier: Apache-2.0
"""From an edited tree to the plan for it, with what must be read for that.

What may go and what is to be done is worked out by the pure parts (ownership,
plan). Here they are given what is allocated, the names placement knows and a
fresh look at all that would be written, and a plan of nothing is remembered. It
writes nothing to placement. ``client.py`` makes one, and calls it from threads,
each with a node of its own.
"""

import dataclasses
from collections.abc import Iterable

from compute_agent.limits import contention
from compute_agent.ownership import in_use, resolve
from compute_agent.ownership.policy import Policy
from compute_agent.tree import provider, provider_tree

from .. import errors as placement_errors
from ..observe import observation, observer, store, verify
from ..operations import allocations as alloc
from ..operations import operations
from . import diff as planning
from . import moves as checking
from . import quiet


class Planner:
    """Makes plans.

    :param observer: knows the names placement has, and is told what to watch
    :param reads: reads what is not to come from memory
    """

    def __init__(
        self,
        records: store.Records,
        observer: observer.Observer,
        reads: verify.Fresh,
    ) -> None:
        self._records = records
        self._observer = observer
        self._fresh = reads
        self._quiet = quiet.Quiet()

    def plan(
        self,
        tree: provider_tree.ProviderTree,
        seen: observation.Observation,
        policy: Policy,
        allocations: alloc.Allocations | None = None,
    ) -> planning.Plan:
        """Return what would be sent to make placement match an edited tree.

        :raises errors.AgentError: as ``SchedulerReportClient.plan`` has it
        """
        self._observer.watch_sharing(_spoken_of(tree, seen))
        uuids = frozenset([*seen.providers, *tree.get_provider_uuids()])
        grounds = quiet.Grounds(
            seen=seen,
            uuids=uuids,
            record=self._records.record(uuids, seen.node_uuid),
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
        record = self._records.record(known.uuids, seen.node_uuid)
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
        wanted = resolve.resolve(tree, grounds.record, policy)
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
        _check_moves(seen, after, moves, faults)
        changes = planning.operations(
            seen.providers, after, wanted.foreign, moves, wanted.causes
        )
        self._check_names_of_roots(changes, seen.node_uuid)
        self._fresh.verify(seen, _written(changes, seen))
        made = planning.Plan(
            node_uuid=seen.node_uuid,
            operations=(*create, *changes),
            before=seen.providers,
            claims=wanted.claims,
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
        stake = in_use.at_stake(seen.providers, after)
        if not stake:
            return after, []
        moved = checking.consumers(moves)
        known = seen.home if moves else frozenset[str]()
        consumers = self._fresh.allocated(
            one for one in stake if one.uuid not in known
        )
        return in_use.settle(
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
            other = self._observer.uuid_of_name(operation.name)
            if other == operation.uuid:
                self._observer.watch_provider(node_uuid, operation.uuid)
                raise placement_errors.Exists(operation.name, operation.uuid)
            if other is not None:
                raise placement_errors.NameTaken.by(
                    str(other), operation.name, operation.uuid
                )


def _spoken_of(
    tree: provider_tree.ProviderTree, seen: observation.Observation
) -> set[str]:
    """Return the providers outside the node's tree that somebody spoke of."""
    there = seen.providers.keys() - seen.home
    return {uuid for uuid, _ in tree.assertions if uuid in there}


def _check_moves(
    seen: observation.Observation,
    after: provider.Snapshot,
    moves: checking.Moves,
    faults: list[str],
) -> None:
    """Refuse what placement would, before anything is sent.

    :param faults: what keeps the providers from being what they should be
    :raises errors.DriverError: it cannot be done
    """
    own = seen.home | set(provider.descendants(after, seen.node_uuid))
    problems = checking.problems(moves, after, own)
    if problems:
        raise alloc.refusal([*problems, *faults])


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
