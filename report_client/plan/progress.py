# SPDX-License-Identifier: Apache-2.0
"""The progress of a plan that is sent: its steps, refusals, conflicts, intents.

Pure: no I/O, configuration, logging or clock. The ledger maps a provider to
its generation: the observation fills it, and each answer advances it.
``apply/executor.py`` keeps one ``Progress`` for each plan that it sends. It
records the intents before it sends anything; after a crash they tell which
writes were carried out. Each operation tells how far it raises a provider's
generation (``advances``), and ``expected_intents`` adds these up in the plan's
order.
"""

import dataclasses
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from compute_agent import errors
from compute_agent.fleet.values import mark
from compute_agent.plan.history_entry import Entry, Result
from compute_agent.plan.intents import Intent
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.operations import write
from compute_agent.plan.plan import Conflict, Outcome, Plan
from compute_agent.tree import assertion, provider, working_copy

from ..http.messages import codec_writes
from . import render

Intents = tuple[Intent, ...]

_BLOCKED = 'not sent, because an operation that it depends on was refused'


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """One operation and its state so far.

    :ivar number: its place in the plan
    :ivar intents: the intents that are recorded before it is sent
    :ivar unsure: it was sent, and no answer tells the outcome
    :ivar done: placement carried it out
    :ivar failed: it was refused or met a conflict, or it depends on such an
        operation
    """

    operation: ops.Operation
    number: int
    intents: tuple[Intent, ...] = ()
    unsure: bool = False
    done: bool = False
    failed: bool = False


class Progress:
    """The progress of one plan.

    :param without: operations that were refused before, not to be sent again
    :ivar fresh: the parts that were read or written in this cycle
    :ivar refused: the operations that were refused or are blocked, by the
        line that reports each
    :ivar reasons: the refused operations, each with the reason
    :ivar ended_by: the error after which nothing more is sent
    """

    def __init__(self, plan: Plan, without: Collection[Hashable] = ()) -> None:
        self.providers: provider.Snapshot = working_copy.WorkingCopy(
            plan.before
        )
        self.ledger = {
            uuid: p.generation
            for uuid, p in plan.before.items()
            if p.generation is not None
        }
        self.fresh = set(plan.fresh)
        self.steps = [
            Step(operation=op, number=n)
            for n, op in enumerate(plan.operations)
        ]
        self.refused: dict[str, ops.Operation] = {}
        self.reasons: list[tuple[ops.Operation, str]] = []
        self.ended_by: errors.AgentError | None = None
        self.node_uuid = plan.node_uuid
        self._observed = frozenset(plan.before)
        self._missing: set[write.Dependency] = set()
        self._stopped: set[str] = set()  # providers that met a conflict
        self._conflicts: list[Conflict] = []
        self._steps_on: dict[str, list[Step]] = {}
        self._dependent: dict[write.Dependency, list[Step]] = {}
        self._unproved: dict[str, Step] = {}
        skipped = frozenset(without)
        for step in self.steps:
            self._index(step)
            if step.operation in skipped:
                self._fail(step)
            elif self._is_blocked(step.operation):
                self._leave(step, _BLOCKED)

    def _index(self, step: Step) -> None:
        """Index the steps, so that a refusal finds those that it affects."""
        for uuid in step.operation.providers:
            self._steps_on.setdefault(uuid, []).append(step)
        for needed in step.operation.needs(self.providers):
            self._dependent.setdefault(needed, []).append(step)

    # --- the steps ------------------------------------------------------------

    def name_steps(self) -> Sequence[Step]:
        """Return the steps that create traits and resource classes."""
        return [s for s in self.steps if s.operation.is_shared]

    def provider_steps(self) -> Sequence[Step]:
        """Return the steps that write to providers, in order."""
        return [s for s in self.steps if not s.operation.is_shared]

    def unverified(
        self, step: Step
    ) -> Iterator[tuple[provider.Provider, assertion.Kind]]:
        """Yield each part that must be read before the step, as it should be.

        A provider that this plan created needs no read.
        """
        for uuid, kind in sorted(step.operation.parts - self.fresh):
            if uuid in self._observed:
                yield self._now(self.providers[uuid]), kind

    def finish(self, step: Step, answer: object) -> None:
        """Note that placement carried a step out, and advance the ledger."""
        operation = step.operation
        if self.needs_proof(step):
            self._unproved[operation.subject] = step
        elif self._unproved and _marks(operation):
            self._unproved.pop(operation.subject, None)
        generation = codec_writes.generation_after(operation, answer)
        if generation is not None:
            self.ledger[operation.subject] = generation
        self.providers = operation.apply_to(self.providers)
        self.fresh |= operation.parts
        step.unsure, step.done = False, True

    def fail(self, step: Step, exc: Exception) -> Collection[str]:
        """Note a refused step, and skip all steps that depend on it.

        A step at which the server failed counts as refused too. If it was
        carried out after all, a conflict or its unconfirmed intents show that
        later.

        :return: the providers whose intents changed
        """
        self._leave(step, exc)
        self.reasons.append((step.operation, str(exc)))
        blocked = self._block_after(step)
        for later in sorted(blocked, key=lambda one: one.number):
            self._leave(later, _BLOCKED)
        return self._written_with(
            uuid
            for one in (step, *blocked)
            for uuid in one.operation.providers
        )

    def skips(self, step: Step) -> bool:
        """Return True if a step is not sent, now that it is its turn.

        A rename may have made it depend on another provider meanwhile.
        """
        if not step.failed and self._is_blocked(step.operation):
            self._leave(step, _BLOCKED)
        return step.failed

    def _block_after(self, refused: Step) -> list[Step]:
        """Return the steps that depend on a refused step, directly or not."""
        found = [refused]
        for one in found:  # it grows meanwhile
            for given in one.operation.gives:
                for later in self._dependent.get(given, ()):
                    is_open = not (later.done or later.failed)
                    if is_open and self._is_blocked(later.operation):
                        self._fail(later)
                        found.append(later)
        return found[1:]

    def _written_with(self, uuids: Iterable[str]) -> Collection[str]:
        """Return these providers, and all that a step writes with them."""
        found: dict[str, None] = {}
        due = list(uuids)
        while due:
            uuid = due.pop()
            if uuid not in found:
                found[uuid] = None
                for step in self._steps_on.get(uuid, ()):
                    due += step.operation.providers
        return found.keys()

    def stop(self, step: Step, exc: errors.Replan) -> None:
        """Note a step that met a conflict, and skip what depends on it.

        Nothing more is written to its provider, whose generation is unknown
        now. If the step removes capacity, no other provider gets capacity of
        that class before it, because the capacity may move from one to the
        other.
        """
        operation = step.operation
        self._conflicts.append(
            Conflict(
                error=exc,
                subject=provider.title(operation.name, operation.subject),
                is_at_home=self._is_home(operation.subject),
            )
        )
        self._stopped |= operation.providers
        if isinstance(exc, errors.ReplanOnce):  # the provider may be gone
            self._missing |= {
                (write.Facet.PROVIDER, uuid) for uuid in operation.providers
            }
        self._fail(step)
        for later in self.steps:
            if not (later.done or later.failed) and (
                self._is_blocked(later.operation)
                or not self._stopped.isdisjoint(later.operation.providers)
                or operation.reduced_classes & later.operation.grown_classes
            ):
                self._fail(later)

    def _is_blocked(self, operation: ops.Operation) -> bool:
        """Return True if the step depends on an operation that was refused."""
        return not self._missing.isdisjoint(operation.needs(self.providers))

    def _leave(self, step: Step, reason: object) -> None:
        line = f'{render.line(step.operation)}: {reason}'
        self.refused[line] = step.operation
        self._fail(step)

    def _fail(self, step: Step) -> None:
        step.failed = True
        self._missing |= step.operation.gives

    def needs_proof(self, step: Step) -> bool:
        """Return True if it creates a provider that others may create too.

        In the node's own tree nobody else uses the uuid of a new provider. A
        shared root, and each provider below it, has the same uuid for every
        agent that reports it.
        """
        operation = step.operation
        if not isinstance(operation, ops.CreateProvider):
            return False
        parent_uuid = operation.parent_uuid
        return parent_uuid is None or not self._is_home(parent_uuid)

    def unproved(self, before: Step | None = None) -> list[Step]:
        """Return the creations to record before a step is sent.

        A new provider shows nobody's work until somebody writes to it; from
        then on the mark on it shows that of this agent. So a creation need not
        be recorded if the next write to the provider is the one with the mark.

        :param before: None for the end of the plan
        """
        return [
            made
            for uuid, made in self._unproved.items()
            if before is None or not self._marks_first(uuid, before)
        ]

    def _marks_first(self, uuid: str, step: Step) -> bool:
        """Return True if a provider gets its mark now, or after this step."""
        if uuid in step.operation.providers:
            return _marks(step.operation)
        return any(
            _marks(one.operation) and not (one.done or one.failed)
            for one in self._steps_on[uuid]
        )

    def record(self, made: Step) -> Intents:
        """Note that a creation is recorded; return its intents."""
        del self._unproved[made.operation.subject]
        intents, made.intents = made.intents, ()
        return intents

    def _is_home(self, uuid: str) -> bool:
        """Return True if the provider is in the node's own tree."""
        if not {uuid, self.node_uuid} <= self.providers.keys():
            return False
        top = provider.root(self.providers, uuid)
        return top == provider.root(self.providers, self.node_uuid)

    # --- the intents ----------------------------------------------------------

    def intend(self) -> list[Intent]:
        """Return the intents of all steps that are or may still be sent."""
        return self._intend(self.steps, self.providers)

    def intend_on(self, uuids: Collection[str]) -> list[Intent]:
        """Return the intents on the providers that ``fail`` returned.

        A refused write does not raise the generation, so the generations after
        later writes differ from those intended first.
        """
        numbered = {s.number: s for u in uuids for s in self._steps_on[u]}
        steps = [numbered[number] for number in sorted(numbered)]
        return self._intend(steps, uuids)

    def _intend(
        self, steps: Sequence[Step], uuids: Iterable[str]
    ) -> list[Intent]:
        ahead = [step for step in steps if self._is_ahead(step)]
        now = {
            uuid: self._now(self.providers[uuid])
            for uuid in uuids
            if uuid in self.providers
        }
        expected = expected_intents(
            self.node_uuid,
            [step.operation for step in ahead],
            now,
            _written(steps),
        )
        for step, (_, intents) in zip(ahead, expected, strict=True):
            step.intents = intents
        return [intent for step in steps for intent in step.intents]

    def _now(self, one: provider.Provider) -> provider.Provider:
        """Return a provider at the generation of the ledger."""
        return dataclasses.replace(one, generation=self.ledger.get(one.uuid))

    def confirmed(self) -> list[Intent]:
        """Return the intents of the steps that were carried out."""
        return [i for step in self.steps if step.done for i in step.intents]

    def dropped(self) -> list[Intent]:
        """Return the intents of the steps known not to be carried out."""
        return [
            intent
            for step in self.steps
            if not step.done and not step.unsure
            for intent in step.intents
        ]

    def _is_ahead(self, step: Step) -> bool:
        """Return True if a step may still be sent.

        The intents of a step that failed are dropped.
        """
        if step.done or step.unsure:
            return False
        if step.failed:
            step.intents = ()
        return not step.failed

    # --- the outcome of the plan ---------------------------------------------

    def outcome(self) -> Outcome:
        """Return the outcome of the plan; missing names and providers first."""
        return Outcome(
            applied=self.applied(),
            refused=self.refused,
            conflicts=tuple(
                sorted(
                    self._conflicts,
                    key=lambda c: not isinstance(c.error, errors.ReplanOnce),
                )
            ),
            ended_by=self.ended_by,
        )

    def applied(self) -> tuple[ops.Operation, ...]:
        """Return the operations that were carried out."""
        return tuple(step.operation for step in self.steps if step.done)

    def unanswered(self) -> list[ops.Operation]:
        """Return the operations that were sent and whose outcome is unknown.

        After a conflict, the provider is read again and shows it.
        """
        return [
            step.operation
            for step in self.steps
            if step.unsure and not step.failed
        ]

    def history_entries(self) -> list[Entry]:
        """Return the history's entries about the operations that were sent."""
        refused = {operation for operation, _ in self.reasons}
        end = str(self.ended_by or '')
        found = [
            entry
            for operation in self.applied()
            for entry in render.history_entries(operation)
        ]
        for operation, why in self.reasons:
            found += _marked(operation, Result.REFUSED, why)
        for operation in self.unanswered():
            if operation not in refused:
                found += _marked(operation, Result.UNCONFIRMED, end)
        uuid = self.node_uuid
        return [dataclasses.replace(entry, node_uuid=uuid) for entry in found]

    def readings(self, now: float) -> list[provider.Reading]:
        """Return the changed providers as they are now, to save reads.

        A provider that met a conflict is read again.
        """
        return [
            provider.Reading(
                provider=dataclasses.replace(
                    self.providers[uuid], generation=self.ledger[uuid]
                ),
                root_uuid=provider.root(self.providers, uuid).uuid,
                read_at=now,
            )
            for uuid in self._surely_written() & set(self.providers)
        ]

    def gone(self) -> set[str]:
        """Return the providers that were deleted."""
        return self._surely_written() - set(self.providers)

    def _surely_written(self) -> set[str]:
        """Return the written providers whose generation is known."""
        sure, unsure = set[str](), set[str]()
        for step in self.steps:
            told = step.operation.tells_generations
            if step.unsure or (step.done and not told):
                unsure |= step.operation.providers
            elif step.done:
                sure |= step.operation.providers
        return sure - unsure - self._stopped


def _written(steps: Iterable[Step]) -> set[str]:
    """Return the providers that steps have, or may have, written to."""
    return {
        uuid
        for step in steps
        if step.done or step.unsure
        for uuid in step.operation.providers
    }


def expected_intents(
    node_uuid: str,
    operations: Iterable[ops.Operation],
    before: provider.Snapshot,
    written: Collection[str] = (),
) -> Iterator[tuple[ops.Operation, Intents]]:
    """Yield each operation of a node's plan with its intents, in order.

    :param before: the providers as they are when the first operation is sent
    :param written: the providers that the plan has written to by then
    """
    expected = _Expected(node_uuid, before, written)
    for operation in operations:
        yield operation, tuple(expected.after(operation))


class _Expected:
    """The providers' generations and classes after each step of the plan."""

    def __init__(
        self,
        node_uuid: str,
        before: provider.Snapshot,
        written: Collection[str],
    ) -> None:
        self._node_uuid = node_uuid
        self._generations = {
            uuid: one.generation or 0 for uuid, one in before.items()
        }
        self._classes = {
            uuid: frozenset(one.inventories) for uuid, one in before.items()
        }
        self._written = set(written)

    def after(self, operation: ops.Operation) -> Iterator[Intent]:
        """Yield the intents of the next operation."""
        for advance in operation.advances():
            uuid = advance.uuid
            if advance.names is None and uuid not in self._written:
                continue
            yield self._intent(advance)
            self._written.add(uuid)

    def _intent(self, advance: write.Advance) -> Intent:
        uuid = advance.uuid
        generation = self._generations.get(uuid, 0) + advance.raises
        self._generations[uuid] = generation
        names = advance.names
        if names is None:
            names = self._classes.get(uuid, frozenset())
        elif advance.kind is assertion.Kind.INVENTORY:
            self._classes[uuid] = names
        return Intent(
            node_uuid=self._node_uuid,
            uuid=uuid,
            kind=advance.kind,
            generation=generation,
            names=names,
            added=advance.added,
        )


def _marks(operation: ops.Operation) -> bool:
    """Return True if an operation puts the mark of this agent on a provider."""
    return isinstance(operation, ops.SetTraits) and bool(
        mark.marks(operation.names - operation.before)
    )


def _marked(
    operation: ops.Operation, result: Result, why: str
) -> Iterator[Entry]:
    """Yield the entries about an operation with another result."""
    for entry in render.history_entries(operation):
        text = why or entry.text
        yield dataclasses.replace(entry, result=result, text=text)
