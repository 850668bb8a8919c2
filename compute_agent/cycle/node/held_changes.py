# SPDX-License-Identifier: Apache-2.0
"""The changes of a node that wait for a person, each as a line.

Pure: no I/O, configuration, logging or clock. A node's result has the digests
of the removals and first writes that are held back; this module finds them in
its plan. Nothing else of the plan is among them.
"""

import dataclasses
from collections.abc import Iterator

from ...limits import approval, blast_radius
from ...limits.approval import Subject
from ...ownership import takeover
from ...plan.plan import Plan
from ...tree import assertion
from .. import effects
from .node_result import NodeResult


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeldChange:
    """One change that waits for a person.

    :ivar text: the change, as a line
    """

    subject: Subject
    text: str


def of(result: NodeResult) -> tuple[HeldChange, ...]:
    """Return the changes of a node that wait for a person, in order."""
    if not result.held or result.plan is None:
        return ()
    found = {
        change.subject: change
        for change in (
            *_first_writes(result),
            *_removals(result.plan),
        )
        if change.subject in result.held
    }
    return tuple(found.values())


def _first_writes(result: NodeResult) -> Iterator[HeldChange]:
    for waiting in result.takeovers:
        yield HeldChange(
            subject=takeover.subject(waiting), text=waiting.brief()
        )


def _removals(plan: Plan) -> Iterator[HeldChange]:
    """Yield each removal of a plan; a deletion as either kind of it."""
    losses = effects.losses(plan, plan.operations)
    for uuid in sorted(losses.deleted | effects.written(plan.operations)):
        for departed in (True, False):
            subject = approval.deletion(uuid, departed=departed)
            yield HeldChange(
                subject=subject, text=f'delete {_provider(plan, uuid)}'
            )
    yield from _names(plan, losses)
    for (uuid, rc), (before, after) in sorted(losses.totals.items()):
        yield HeldChange(
            subject=approval.capacity_fall((uuid, rc), after),
            text=f'lower {rc} of {_provider(plan, uuid)} from {before} to '
            f'{after}',
        )


def _names(plan: Plan, losses: blast_radius.Removals) -> Iterator[HeldChange]:
    for removed in sorted(losses.names):
        uuid, kind, name = removed
        what = (
            f'the capacity of {name}'
            if kind is assertion.Kind.INVENTORY
            else f'{kind.value} {name}'
        )
        yield HeldChange(
            subject=approval.name_removal(removed),
            text=f'remove {what} from {_provider(plan, uuid)}',
        )


def _provider(plan: Plan, uuid: str) -> str:
    return str(plan.before.get(uuid, uuid))
