# SPDX-License-Identifier: Apache-2.0
"""Steps taken in threads: all of them, in order, and an end when one fails."""

import itertools
import threading

import pytest
import threads

from compute_agent import parallel


@pytest.mark.parametrize('workers', [1, 3, 100])
def test_every_step_is_taken_once(workers):
    taken = []
    parallel.each(range(50), taken.append, workers=workers)
    assert sorted(taken) == list(range(50))


def test_one_worker_takes_them_in_order_in_the_thread_that_asks():
    taken = []

    def step(number):
        taken.append((number, threading.current_thread()))

    parallel.each('abc', step, workers=1)
    assert taken == [(one, threading.current_thread()) for one in 'abc']


def test_so_many_are_at_work_at_a_time():
    met = threading.Barrier(3)
    parallel.each(range(6), lambda _: met.wait(threads.PATIENCE), workers=3)


def test_nothing_is_no_work():
    parallel.each([], pytest.fail, workers=4)


@pytest.mark.parametrize('workers', [1, 2])
def test_a_step_that_fails_ends_it_after_those_at_work(workers):
    """With two workers, the first step is at work until the second failed."""
    taken, failed = [], threading.Event()

    def step(number):
        taken.append(number)
        if number == 1:
            threads.tell_end_of_task(failed)
            raise LookupError(number)
        assert workers == 1 or failed.wait(threads.PATIENCE)

    with pytest.raises(LookupError):
        parallel.each(range(100), step, workers=workers)
    assert sorted(taken) == [0, 1]


def test_threads_that_compute_get_no_company(monkeypatch):
    """Python runs one of them at a time; a second one only slows it down."""
    computed = itertools.count(0, 1000)
    monkeypatch.setattr(parallel.time, 'process_time', lambda: next(computed))
    working, looked = set(), threading.Event()
    wait = parallel.concurrent.futures.wait

    def look(*args, **options):
        if len(working) == 1 and not looked.is_set():
            found = wait(*args, **options)
            looked.set()  # once, while the first step is at work
            return found
        return wait(*args, **options)

    def step(number):
        working.add(threading.get_ident())
        assert number or looked.wait(threads.PATIENCE)

    monkeypatch.setattr(parallel.concurrent.futures, 'wait', look)
    parallel.each(range(20), step, workers=4)
    assert len(working) == 1
