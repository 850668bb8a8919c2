# SPDX-License-Identifier: Apache-2.0
"""One step of a plan that is sent: an operation and its state so far.

Pure: no I/O, configuration, logging or clock. ``progress.py`` has the steps of
a whole plan.
"""

import dataclasses

from compute_agent.plan.intents import Intent
from compute_agent.plan.operations import operations as ops


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """One operation and its state so far.

    :ivar intents: the intents that are recorded before it is sent
    :ivar unsure: it was sent, and no answer tells the outcome
    :ivar done: placement carried it out
    :ivar failed: it was refused or met a conflict, or it depends on such an
        operation
    """

    operation: ops.Operation
    intents: tuple[Intent, ...] = ()
    unsure: bool = False
    done: bool = False
    failed: bool = False
