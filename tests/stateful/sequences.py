# SPDX-License-Identifier: Apache-2.0
"""Batches of sequences: a seed and a batch's number give the same ones again."""

import collections.abc
import dataclasses

import hypothesis
import machine
import tally as tallies
from hypothesis import stateful
from hypothesis.errors import Flaky

# Hypothesis varies what it drew before rather than draw anew, after ten.
AT_A_TIME = 10
MOST_FAILURES = 5  # batches that fail before a run is ended


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
    """Run a batch; raise what its first failure raised.

    Hypothesis calls a sequence flaky that fails where the same steps went well
    before. The error then has the failure as its cause.
    """
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
    acting.failure = None
    try:
        stateful.run_state_machine_as_test(made, settings=settings)
    except Flaky as exc:
        raise exc from acting.failure


def run_many(
    acting: collections.abc.Callable[[int], type[machine.Machine]],
    batches: collections.abc.Iterator[int],
    how: How,
    tally: tallies.Tally,
    wanted: int,
) -> None:
    """Run batches until ``wanted`` sequences have been tried.

    A batch that fails does not count, and does not end the run.

    :param acting: returns the machine of a batch
    :raises ExceptionGroup: some batches failed; each error names its batch
    """
    failures = []
    while tally.sequences < wanted and len(failures) < MOST_FAILURES:
        batch, before = next(batches), tally.sequences
        try:
            run(acting(batch), batch, how)
        except Exception as exc:  # noqa: BLE001  whatever ends it, the next runs
            tally.sequences = before
            named = f'seed {how.seed}, batch {batch}'
            exc.add_note(named)
            tally.failures.append(f'{named}: {exc!r}')
            failures.append(exc)
        tally.keep()
    if failures:
        raise ExceptionGroup('batches failed', failures)
