# SPDX-License-Identifier: Apache-2.0
"""How a node's cycle ended, as a value.

It does nothing and asks nobody. A node's turn makes it; the service and the
command line tell it.
"""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

from ..limits import contention
from ..tree.node import Node
from . import report_client


class Status(enum.Enum):
    """How a node's cycle ended."""

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """How one node's cycle ended.

    :ivar plan: None when it ended before there was one
    :ivar applied: the operations that placement carried out
    :ivar reason: why it is not done; empty if it is
    :ivar notes: lines for the operator
    :ivar outage: it is not done because the service is away
    :ivar again_in: seconds until what was refused is tried again; None for
        the next cycle
    """

    node: Node
    status: Status
    plan: report_client.Plan | None = None
    applied: Sequence[Any] = ()
    reason: str = ''
    notes: tuple[str, ...] = ()
    outage: bool = False
    again_in: float | None = None


def ended(node: Node, status: Status, reason: str) -> NodeResult:
    """Return the result of a node whose turn ended without a plan."""
    return NodeResult(node=node, status=status, reason=reason)


def planned(
    node: Node,
    plan: report_client.Plan,
    refused: Sequence[str] = (),
) -> NodeResult:
    """Return the result of a node with a plan, and what of it was refused."""
    reasons = [*plan.faults, *refused]
    status = Status.FAILED if reasons else Status.DONE
    left = [contention.line(item, plan.before) for item in plan.contended]
    if left and not reasons:
        status = Status.WAITING
    return NodeResult(
        node=node,
        status=status,
        plan=plan,
        reason='; '.join([*reasons, *left]),
        notes=tuple(plan.notes),
    )


def kept_back(result: NodeResult, status: Status, why: str) -> NodeResult:
    """Return the result of a node whose plan is not applied in this cycle."""
    reasons = [reason for reason in (why, result.reason) if reason]
    return dataclasses.replace(
        result, status=status, reason='; '.join(reasons)
    )
