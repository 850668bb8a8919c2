# SPDX-License-Identifier: Apache-2.0
"""Batches of sequences: what one does is in its seed, and a failure is told.

The tests that need a failure replace the machine's private method ``_cycle``,
because each sequence calls it, whatever its steps are.
"""

import dataclasses
import itertools
import random
import re
import time

import booting
import others
import pytest
import sequences
import tally as tallies
from placement_double import both, service

SHORT = sequences.How(seed=3, at_a_time=3, steps=2, prints=False)
QUICK = dataclasses.replace(SHORT, at_a_time=1)
# Seconds that pass while placement answers: none, or a back-off, or hours.
DELAYS = (0, 0, 1, 70, 5000)
REQUEST_ID = re.compile(r'req-[0-9a-f-]{36}')


class Slow(both.Both):
    """Placement and its double, told what time it is by their clients.

    :ivar course: the requests and their answers
    """

    def __init__(self, placement, patch, seed) -> None:
        super().__init__(placement)
        self._delays = random.Random(seed)
        self._now = time.time()
        self.course: list[str] = []
        patch.setattr('time.time', lambda: self._now)
        patch.setattr('time.monotonic', lambda: self._now)

    def ask(self, sent):
        self._now += self._delays.choice(DELAYS)
        got = super().ask(sent)
        said = REQUEST_ID.sub('', got.text)
        asked = f'{sent.method} {sent.path_url} {sent.body}'
        self.course.append(f'{asked} {got.status_code} {said}')
        return got


@pytest.mark.long
def test_the_time_that_placement_takes_changes_no_course(
    quick_placement, monkeypatch
):
    courses = []
    for seed in (1, 2):
        with monkeypatch.context() as patch:
            slow = Slow(quick_placement, patch, seed)
            acting = booting.machine_on(slow)
            slow.course.clear()  # of the world before the sequences
            sequences.run(acting, 0, SHORT)
        courses.append(slow.course)
    one, two = courses
    assert len(one) > 100
    assert one == two


class Heard(service.Double):
    """The double, which notes the paths that others write to."""

    def start(self, database):
        super().start(database)
        self.paths = []

    def call(self, method, path, body=None, *version):
        self.paths.append(path)
        return super().call(method, path, body, *version)


def test_others_write_in_the_same_order_in_each_process():
    """Else a seed repeats a sequence only where strings have the same hash."""
    heard = Heard()
    acting = booting.machine_on(heard)()
    acting.begin(booted=True)
    now = acting.authors.now
    everybody = others.Others(heard, acting.authors)
    everybody.moved_back()
    heard.paths.clear()
    everybody.stop({}, lambda uuid: {now[uuid].generation})
    acting.teardown()
    written = [path for path in heard.paths if path.endswith('/aggregates')]
    assert len(written) > 5
    assert written == sorted(written)


def _failing(fails, tally=None):
    """Return a machine some of whose cycles fail.

    :param fails: yields for each cycle True if it fails
    """

    class Failing(booting.machine_on(service.Double(), tally)):
        def _cycle(self, agent, fault):
            assert not next(fails), 'the world ends'
            return super()._cycle(agent, fault)

    return Failing


def test_a_batch_that_fails_is_named_and_the_others_go_on(tmp_path):
    tally = tallies.Tally(tmp_path / 'tally')
    machines = [
        _failing(itertools.repeat(batch == 1), tally) for batch in range(3)
    ]
    with pytest.raises(ExceptionGroup) as caught:
        sequences.run_many(
            machines.__getitem__, itertools.count(), QUICK, tally, 2
        )
    (exc,) = caught.value.exceptions
    assert exc.__notes__[-1] == 'seed 3, batch 1'
    assert tally.sequences == 2
    total = tallies.Tally()
    total.add(tmp_path / 'tally')
    assert 'seed 3, batch 1: AssertionError(' in str(total)
    assert '2 sequences' in str(total)
    assert '1 batches failed' in str(total)


def test_a_run_in_which_all_fails_comes_to_an_end():
    tally = tallies.Tally()
    failing = _failing(itertools.repeat(True), tally)
    with pytest.raises(ExceptionGroup) as caught:
        sequences.run_many(
            lambda _: failing, itertools.count(), QUICK, tally, 2
        )
    assert len(caught.value.exceptions) == sequences.MOST_FAILURES


def test_a_flaky_failure_tells_its_cause():
    once = itertools.chain([True], itertools.repeat(False))
    with pytest.raises(sequences.Flaky) as caught:
        sequences.run(_failing(once), 0, QUICK)
    assert 'the world ends' in str(caught.value.__cause__)
