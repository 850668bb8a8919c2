# SPDX-License-Identifier: Apache-2.0
"""Batches of sequences: a seed and a batch's number give the same ones again.

``search`` runs the sequences of an agent with a planted defect until one fails.
"""

import collections.abc
import dataclasses
import pathlib
import sys
import traceback

import booting
import hypothesis
import machine
import pytest
import tally as tallies
import variants
from hypothesis import stateful
from hypothesis.errors import Flaky
from placement_double import service

HERE = pathlib.Path(__file__).parent

# Hypothesis varies what it drew before rather than draw anew, after ten.
AT_A_TIME = 10
MOST_FAILURES = 5  # batches that fail before a run is ended
MOST = 200  # sequences of a search
LENGTH = 160  # of what a failure says


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


# --- the agent with a defect --------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The outcome of a search.

    :ivar sequences: the number of sequences that ran, the failing one included
    :ivar failure: where and why it failed; '' if none did
    """

    sequences: int
    failure: str = ''


def search(
    defect: variants.Variant | None, *, most: int = MOST, seed: int = 1
) -> Found:
    """Run sequences of the agent with a defect, until one of them fails.

    :param defect: None for the agent as it is
    """
    tally = tallies.Tally()
    # It begins with what an agent without the defect left.
    acting = booting.machine_on(service.Double(), tally)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr('time.sleep', lambda _: None)
        if defect is not None:
            defect.plant(monkeypatch)
        found = _first_failure(acting, tally, most, seed)
    if defect is not None:
        defect.check()
    return found


def _first_failure(acting, tally, most, seed):
    failures: list[Found] = []
    watched = _watched(acting, tally, failures)
    how = How(seed=seed, prints=False)
    batch = 0
    while tally.sequences < most and not failures:
        try:
            run(watched, batch, how)
        except Exception:
            if not failures:
                raise
        batch += 1
    return failures[0] if failures else Found(sequences=tally.sequences)


def _watched(acting, tally, failures):
    """Return a machine that notes its first failure."""

    class Watched(acting):
        def teardown(self):
            exc = sys.exc_info()[1]
            try:
                super().teardown()
            except Exception as failure:
                exc = exc or failure
                raise
            finally:
                if isinstance(exc, Exception) and not failures:
                    failures.append(
                        Found(sequences=tally.sequences, failure=brief(exc))
                    )

    return Watched


def brief(exc):
    """Return where a failure was found, and its first words."""
    frames = [
        frame
        for frame in traceback.extract_tb(exc.__traceback__)
        if pathlib.Path(frame.filename).parent == HERE
        and not frame.filename.endswith(pathlib.Path(__file__).name)
    ]
    where = '.'.join(
        (pathlib.Path(frames[-1].filename).stem, frames[-1].name)
        if frames
        else ('agent',)
    )
    text = ' '.join(str(exc).split()) or type(exc).__name__
    return f'{where}: {text}'[:LENGTH]
