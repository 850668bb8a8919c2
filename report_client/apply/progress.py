# SPDX-License-Identifier: Apache-2.0
"""How far one plan has come: its steps, the ledger, what was refused.

Pure: no I/O, configuration, logging or clock. The ledger maps provider to
generation: the observation seeds it, every answer moves it on. Kept by
``executor.py``, which sends the operations.
"""

import dataclasses
from collections.abc import Collection

from compute_agent.tree import provider
from compute_agent.tree.intents import Intent

from ..http import codec
from ..operations import operations as ops
from ..plan import diff as planning
from ..plan import render
from . import expected_intents

_BLOCKED = 'left, for what it depends on was refused'


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """One operation on its way: not sent, sent and not answered, done, or not.

    :ivar failed: it was refused, or is left because of that
    """

    operation: ops.Operation
    intents: tuple[Intent, ...] = ()
    unsure: bool = False
    done: bool = False
    failed: bool = False


class Run:
    """How far one plan has come.

    :param without: operations that were refused before, not to be sent again
    """

    def __init__(
        self, plan: planning.Plan, without: Collection[ops.Operation] = ()
    ) -> None:
        self.providers = plan.before
        self.ledger = {
            uuid: p.generation
            for uuid, p in plan.before.items()
            if p.generation is not None
        }
        self.steps = [Step(operation=op) for op in plan.operations]
        self.refused: list[str] = []
        self.left: list[ops.Operation] = []
        self.node_uuid = plan.node_uuid
        self._failed: set[str] = set()
        for step in self.steps:
            if step.operation in without:
                self._fail(step)
            elif self._blocked(step.operation):
                self._leave(step, _BLOCKED)

    def intend(self) -> list[Intent]:
        """Return the intents of all that may be sent, or was, from here on.

        A refused write moves no generation, so what comes after it leads to
        others than it was to.
        """
        ahead = [step for step in self.steps if self._is_ahead(step)]
        now = {
            uuid: dataclasses.replace(one, generation=self.ledger.get(uuid))
            for uuid, one in self.providers.items()
        }
        meant = expected_intents.intents(
            self.node_uuid,
            [step.operation for step in ahead],
            now,
            self._written(),
        )
        for step, (_, planned) in zip(ahead, meant, strict=True):
            step.intents = planned
        return [intent for step in self.steps for intent in step.intents]

    def _is_ahead(self, step: Step) -> bool:
        """Whether it may still be sent; forget what it meant to do if not."""
        if step.done or step.unsure:
            return False
        if step.failed:
            step.intents = ()
        return not step.failed

    def _written(self) -> set[str]:
        """The providers that this plan has written to, or may have."""
        return {
            step.operation.uuid
            for step in self.steps
            if (step.done or step.unsure)
            and not isinstance(step.operation, ops.NameOperation)
        }

    def _blocked(self, operation: ops.Operation) -> bool:
        """Whether an earlier refusal stands in the way of this operation.

        A refused inventory keeps no label from being set, which is always
        safe; but it keeps those that are there, for it still needs them, and
        what grows waits for it.
        """
        match operation:
            case ops.CreateTrait() | ops.CreateResourceClass():
                needs = set[str | None]()
            case ops.SetInventories():
                needs = {
                    operation.uuid,
                    _inventory_of(operation),
                    _labels_of(operation),
                    *operation.added,
                }
            case ops.CreateProvider() | ops.UpdateProvider():
                needs = {operation.uuid, operation.parent_uuid}
                needs |= self._named(operation.name)
            case ops.DeleteProvider():
                children = {
                    p.uuid
                    for p in self.providers.values()
                    if p.parent_uuid == operation.uuid
                }
                needs = {operation.uuid, _inventory_of(operation), *children}
            case ops.Reshape():
                needs = {*operation.added}
                for one in operation.inventories:
                    needs |= {one.uuid, _inventory_of(one), _labels_of(one)}
            case _:
                needs = {operation.uuid, *operation.added}
                if operation.removed:
                    needs.add(_inventory_of(operation))
        return not self._failed.isdisjoint(needs)

    def _named(self, name: str) -> set[str]:
        """Return who has a name, and has to give it up before it is taken."""
        return {p.uuid for p in self.providers.values() if p.name == name}

    def fail(self, step: Step, exc: Exception) -> None:
        """Note that an operation is left, and all that depends on it.

        What was refused and what a server failed at: if that was done after
        all, a conflict says so, or the intents that are left of it.
        """
        self._leave(step, exc)
        for later in self.steps:
            if not (later.done or later.failed) and self._blocked(
                later.operation
            ):
                self._leave(later, _BLOCKED)

    def _leave(self, step: Step, why: object) -> None:
        self.refused.append(f'{render.line(step.operation)}: {why}')
        self.left.append(step.operation)
        self._fail(step)

    def _fail(self, step: Step) -> None:
        step.failed = True
        match step.operation:
            case ops.CreateTrait(name=name):
                self._failed.add(name)
            case ops.CreateResourceClass(name=name):
                self._failed.add(name)
            case ops.SetInventories() as operation:
                self._failed.add(_inventory_of(operation))
            case ops.SetTraits() | ops.SetAggregates() as operation:
                self._failed.add(_labels_of(operation))
            case ops.Reshape(inventories=parts):
                self._failed |= {_inventory_of(part) for part in parts}
            case operation:
                self._failed.add(operation.uuid)

    def finish(self, step: Step, answer: object) -> None:
        """Note what placement carried out, and move the ledger on."""
        operation = step.operation
        match operation:
            case ops.CreateProvider():
                generation = codec.created_generation(answer)
                self.ledger[operation.uuid] = generation
            case ops.SetTraits() | ops.SetAggregates() | ops.SetInventories():
                generation = codec.generation_after(answer)
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
                root_uuid=provider.root(self.providers, uuid).uuid,
                read_at=now,
            )
            for uuid in self._touched() & set(self.providers)
        ]

    def gone(self) -> set[str]:
        """Return the providers that were deleted."""
        return self._touched() - set(self.providers)

    def _touched(self) -> set[str]:
        """The providers written to, less those of which we are not sure."""
        done, unsure = set[str](), set[str]()
        for step in self.steps:
            if isinstance(step.operation, ops.NameOperation):
                continue
            if isinstance(step.operation, ops.Reshape):
                # Whatever became of it, no answer said where it led.
                sent = step.done or step.unsure
                unsure |= step.operation.providers if sent else set()
                continue
            if step.done:
                done.add(step.operation.uuid)
            if step.unsure:
                unsure.add(step.operation.uuid)
        return done - unsure


def _inventory_of(
    operation: ops.SetOperation | ops.DeleteProvider,
) -> str:
    return f'inventory of {operation.uuid}'


def _labels_of(operation: ops.SetOperation) -> str:
    return f'labels of {operation.uuid}'
