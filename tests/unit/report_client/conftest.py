# SPDX-License-Identifier: Apache-2.0
"""A limit for tests of code that once could run for ever."""

import signal

import pytest


@pytest.fixture
def in_time():
    """Fail the test after two seconds, in place of hanging."""

    def give_up(*_):
        raise AssertionError('still running after two seconds')

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 2)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
