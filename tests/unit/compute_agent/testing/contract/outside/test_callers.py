# SPDX-License-Identifier: Apache-2.0
"""A thread runs code of the driver, or of the agent, as its starter did."""

import threading
from concurrent import futures

from compute_agent.testing.contract.outside import callers


class Asks(threading.Thread):
    """A thread that keeps the answer."""

    answer = None

    def run(self):
        self.answer = callers.is_driver()


def asked():
    """Return the answer in a new thread."""
    with futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(callers.is_driver).result()


def test_everything_is_the_driver_s_except_what_the_agent_does():
    assert callers.is_driver()
    with callers.agent():
        assert not callers.is_driver()
        with callers.driver():
            assert callers.is_driver()
        assert not callers.is_driver()
    assert callers.is_driver()


def test_a_thread_belongs_to_its_starter_for_its_whole_life():
    with callers.following_threads():
        with callers.agent():
            assert not asked()
            with callers.driver():
                assert asked()
        assert asked()


def test_a_thread_of_a_thread_belongs_to_the_first_starter():
    with callers.following_threads():
        with callers.agent(), futures.ThreadPoolExecutor(1) as pool:
            assert not pool.submit(asked).result()
        with futures.ThreadPoolExecutor(1) as pool:
            assert pool.submit(asked).result()


def test_a_thread_of_a_class_with_its_own_run_runs_it():
    with callers.following_threads(), callers.agent():
        thread = Asks()
        thread.start()
    thread.join()
    assert thread.answer is False
    assert 'run' not in vars(thread)


def test_threads_start_as_before_afterwards():
    before = threading.Thread.start
    with callers.following_threads():
        assert threading.Thread.start is not before
    assert threading.Thread.start is before
