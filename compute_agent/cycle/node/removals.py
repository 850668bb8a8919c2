# SPDX-License-Identifier: Apache-2.0
"""The removals of a node's plan, planned or carried out.

Pure: no I/O, configuration, logging or clock. ``limits/`` judges them. A
provider of a departed node that cannot be deleted becomes reserved, which
removes its capacity just as a deletion would. So each provider to which such a
node's plan writes counts as deleted.
"""

from collections.abc import Sequence

from ...limits import blast_radius
from ...plan.operations.operations import Operation
from .. import effects
from ..planning.node_plan import NodePlan


def planned(made: NodePlan, *, departed: bool) -> blast_radius.Removals:
    """Return what a plan removes, without the operations that wait."""
    held = made.held()
    sent = [op for op in made.plan.operations if op not in held]
    if departed:
        return blast_radius.Removals(deleted=effects.written(sent))
    return effects.losses(made.plan, sent)


def carried_out(
    made: NodePlan, done: Sequence[Operation], *, departed: bool
) -> blast_radius.Removals:
    """Return what placement removed.

    :param done: the operations that were applied
    """
    if not departed:
        return effects.losses(made.plan, done)
    left = [op for op in made.plan.operations if op not in done]
    return blast_radius.Removals(
        deleted=effects.written(done) - effects.written(left)
    )
