# SPDX-License-Identifier: Apache-2.0
"""Sending a plan's operations, in order, under the generation ledger.

The ledger maps provider to generation: the observation seeds it, every answer
moves it on. What is about to be sent is recorded first and confirmed after, so
that every request can be the last one. What depends on a refused operation is
left and said, the rest goes on; a conflict or an outage ends the node's
cycle. It plans nothing and retries nothing.
"""

import dataclasses
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from compute_agent import errors, intentions, names, provider

from . import errors as placement_errors
from . import operations as ops
from . import placement, render, store, wire
from . import plan as planning

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a plan.

    :ivar applied: the operations that placement carried out
    :ivar refused: a line for each operation it refused, or that was left
    """

    applied: tuple[ops.Operation, ...]
    refused: tuple[str, ...] = ()


class Names(Protocol):
    """The names that placement knows; see ``observe.py``."""

    def remembered_names(self) -> names.KnownNames | None:
        """Return those it is remembered to know, None for no memory."""

    def learn_names(
        self, traits: frozenset[str], resource_classes: frozenset[str]
    ) -> None:
        """Remember names that were just created."""


class Executor:
    """Carries out plans against one placement service; threads may share it.

    :param clock: seconds since the epoch
    """

    def __init__(
        self,
        service: placement.Placement,
        journal: store.Journal,
        known: Names,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._service = service
        self._journal = journal
        self._names = known
        self._naming = threading.Lock()
        self._clock = clock

    def apply(self, plan: planning.Plan) -> Outcome:
        """Send the operations of one node's plan; return what became of them.

        :raises errors.AgentError: the node's cycle ends here; what was done
            until then is recorded
        """
        if not plan.operations and not plan.held:
            return Outcome(applied=())
        run = _Run(plan)
        intents = [s.intent for s in run.steps if s.intent is not None]
        self._journal.begin(plan.node_uuid, intents, plan.held)
        try:
            self._create_names(run)
            for step in run.steps:
                if not isinstance(step.operation, ops.NameOperation):
                    self._take(run, step)
        except errors.AgentError as exc:
            exc.applied = run.applied()
            raise
        finally:
            self._confirm(run)
        return Outcome(applied=run.applied(), refused=tuple(run.refused))

    def _create_names(self, run: '_Run') -> None:
        """Create the names that no other node's plan has created meanwhile.

        Nodes go side by side and share their names, so these go one by one.
        """
        if not any(
            isinstance(s.operation, ops.NameOperation) for s in run.steps
        ):
            return
        with self._naming:
            known = self._names.remembered_names()
            for step in list(run.steps):
                operation = step.operation
                if not isinstance(operation, ops.NameOperation):
                    continue
                if known is not None and planning.is_known(operation, known):
                    run.steps.remove(step)
                else:
                    self._take(run, step)
            created = ops.created_names(run.applied())
            if any(created):
                self._names.learn_names(*created)

    def _take(self, run: '_Run', step: '_Step') -> None:
        if run.blocked(step.operation):
            run.fail(step.operation)
            return
        step.unsure = True
        try:
            answer = self._send(run, step.operation)
        except errors.Refused as exc:
            step.unsure = False
            run.fail(step.operation, exc)
        except placement_errors.ServerFault as exc:
            run.fail(step.operation, exc)
        else:
            run.finish(step, answer)
            LOG.info('%s', render.line(step.operation))

    def _send(self, run: '_Run', operation: ops.Operation) -> object:
        generation = run.ledger.get(getattr(operation, 'uuid', ''))
        request = wire.request(operation, generation)
        try:
            return self._service.send(request)
        except placement_errors.NameTaken as exc:
            raise self._whose_name(operation, exc) from exc
        except placement_errors.Vanished:
            if isinstance(operation, ops.DeleteProvider):
                return None  # gone already, which is what was wanted
            raise

    def _whose_name(
        self, operation: ops.Operation, exc: placement_errors.NameTaken
    ) -> errors.AgentError:
        """Tell a creation that had been done from a name that is taken."""
        if not isinstance(operation, ops.CreateProvider | ops.UpdateProvider):
            return exc
        rows = wire.listed(self._service.get(wire.named(operation.name)))
        others = [row.uuid for row in rows if row.uuid != operation.uuid]
        if not others:
            return placement_errors.Conflict(
                f'{provider.title(operation.name, operation.uuid)} exists already'
            )
        return placement_errors.NameTaken.by(
            others[0], operation.name, operation.uuid
        )

    def _confirm(self, run: '_Run') -> None:
        """Record what was done; what may have been done stays an intent."""
        done = [s.intent for s in run.steps if s.done and s.intent]
        dropped = [
            s.intent
            for s in run.steps
            if s.intent and not s.done and not s.unsure
        ]
        self._journal.settle(
            done,
            dropped,
            readings=run.readings(self._clock()),
            gone=run.gone(),
        )


@dataclasses.dataclass(slots=True, eq=False)
class _Step:
    """One operation on its way: not sent, sent and not answered, done."""

    operation: ops.Operation
    intent: intentions.Intent | None
    unsure: bool = False
    done: bool = False


class _Run:
    """How far one plan has come."""

    def __init__(self, plan: planning.Plan) -> None:
        self.providers = plan.before
        self.ledger = {
            uuid: p.generation
            for uuid, p in plan.before.items()
            if p.generation is not None
        }
        self.steps = _steps(plan, dict(self.ledger))
        self.refused: list[str] = []
        self._failed: set[str] = set()

    def blocked(self, operation: ops.Operation) -> bool:
        """Whether an earlier refusal stands in the way of this operation.

        A refused inventory keeps no label from being set: that is always safe,
        and only what grows waits for it.
        """
        match operation:
            case ops.CreateTrait() | ops.CreateResourceClass():
                needs = set[str | None]()
            case ops.SetInventories():
                needs = {
                    operation.uuid,
                    _inventory_of(operation),
                    *operation.added,
                }
            case ops.CreateProvider() | ops.UpdateProvider():
                needs = {operation.uuid, operation.parent_uuid}
            case ops.DeleteProvider():
                children = {
                    p.uuid
                    for p in self.providers.values()
                    if p.parent_uuid == operation.uuid
                }
                needs = {operation.uuid, *children}
            case _:
                needs = {operation.uuid, *operation.added}
        return not self._failed.isdisjoint(needs)

    def fail(
        self, operation: ops.Operation, exc: Exception | None = None
    ) -> None:
        """Note that what depends on this operation is left as well."""
        why = (
            'left, for what it depends on was refused' if exc is None else exc
        )
        self.refused.append(f'{render.line(operation)}: {why}')
        match operation:
            case ops.CreateTrait() | ops.CreateResourceClass():
                self._failed.add(operation.name)
            case ops.SetInventories():
                self._failed.add(_inventory_of(operation))
            case _:
                self._failed.add(operation.uuid)

    def finish(self, step: _Step, answer: object) -> None:
        """Note what placement carried out, and move the ledger on."""
        operation = step.operation
        match operation:
            case ops.CreateProvider():
                generation = wire.created_generation(answer)
                self.ledger[operation.uuid] = generation
            case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
                generation = wire.generation_after(answer)
                self.ledger[operation.uuid] = generation
        self.providers = operation.apply_to(self.providers)
        step.unsure, step.done = False, True

    def applied(self) -> tuple[ops.Operation, ...]:
        """Return the operations that were carried out."""
        return tuple(step.operation for step in self.steps if step.done)

    def readings(self, now: float) -> list[provider.Reading]:
        """Return the providers changed, as they stand: no need to read them."""
        return [
            provider.Reading(
                provider=dataclasses.replace(
                    self.providers[uuid], generation=self.ledger[uuid]
                ),
                root_uuid=_root(self.providers, uuid),
                read_at=now,
            )
            for uuid in self._touched() & set(self.providers)
        ]

    def gone(self) -> set[str]:
        """Return the providers that were deleted."""
        return self._touched() - set(self.providers)

    def _touched(self) -> set[str]:
        """The providers written to, less those of which we are not sure."""
        done, unsure = set(), set()
        for step in self.steps:
            if isinstance(step.operation, ops.NameOperation):
                continue
            if step.done:
                done.add(step.operation.uuid)
            if step.unsure:
                unsure.add(step.operation.uuid)
        return done - unsure


def _inventory_of(operation: ops.SetInventories) -> str:
    return f'inventory of {operation.uuid}'


def _steps(plan: planning.Plan, generations: dict[str, int]) -> list[_Step]:
    """Return each operation with its intent; each moves one generation on."""
    steps = []
    for operation in plan.operations:
        intent = None
        match operation:
            case ops.CreateProvider():
                generations[operation.uuid] = 0
                intent = intentions.Intent(
                    uuid=operation.uuid, kind=None, generation=0
                )
            case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
                generations[operation.uuid] += 1
                intent = intentions.Intent(
                    uuid=operation.uuid,
                    kind=operation.kind,
                    generation=generations[operation.uuid],
                    names=operation.names,
                    added=operation.added,
                )
        steps.append(_Step(operation, intent))
    return steps


def _root(providers: provider.Snapshot, uuid: str) -> str:
    one = providers[uuid]
    while one.parent_uuid in providers:
        one = providers[str(one.parent_uuid)]
    return one.uuid
