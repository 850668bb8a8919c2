# SPDX-License-Identifier: Apache-2.0
"""Batches of sequences: a seed and a batch's number give the same ones again."""

import dataclasses

import hypothesis
import machine
from hypothesis import stateful

# Hypothesis varies what it drew before rather than draw anew, after ten.
AT_A_TIME = 10


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """The way to draw a batch.

    :ivar at_a_time: the number of its sequences
    :ivar steps: the number of steps of each
    :ivar shrinks: whether a failure is made short, which takes minutes
    :ivar prints: whether the steps that led to a failure are printed
    """

    seed: int
    at_a_time: int = AT_A_TIME
    steps: int = 25
    shrinks: bool = False
    prints: bool = True


def run(acting: type[machine.Machine], batch: int, how: How) -> None:
    """Run a batch; raise what its first failure raised."""
    phases = [hypothesis.Phase.generate]
    if how.shrinks:
        phases.append(hypothesis.Phase.shrink)
    settings = hypothesis.settings(
        max_examples=how.at_a_time,
        stateful_step_count=how.steps,
        deadline=None,
        database=None,
        print_blob=how.prints,
        verbosity=hypothesis.Verbosity.normal
        if how.prints
        else hypothesis.Verbosity.quiet,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    made = hypothesis.seed(f'{how.seed}, batch {batch}')(acting)
    stateful.run_state_machine_as_test(made, settings=settings)
