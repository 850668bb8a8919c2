# SPDX-License-Identifier: Apache-2.0
"""A person's approvals of the first writes in a node's plan.

``ownership/takeover.py`` tells which operations are the first write to another
writer's provider; these wait. ``node_cycle.py`` calls this for each plan.
"""

import dataclasses
import logging

from ...limits import approval
from ...ownership import takeover
from ...tree.node import Node
from ..planning.node_plan import NodePlan
from .cycle_context import CycleContext

LOG = logging.getLogger(__name__)


def with_approved(
    node: Node, planned: NodePlan, context: CycleContext
) -> tuple[NodePlan, str]:
    """Return the plan with the first writes that persons approved, and who.

    A cycle that writes records them at once, so they hold even if something
    else keeps the plan from being applied in this cycle.
    """
    waiting = {takeover.subject(one): one for one in planned.waiting()}
    persons = context.approvals.approved(waiting)
    if not persons:
        return planned, ''
    who = approval.persons(persons.values())
    if context.writing:
        context.planner.take_over([waiting[s] for s in persons])
        context.approvals.drop(persons)
        LOG.info('%s: the first write goes on, as approved by %s', node, who)
    rest = tuple(one for s, one in waiting.items() if s not in persons)
    return dataclasses.replace(planned, takeovers=rest), who
