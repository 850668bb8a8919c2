# SPDX-License-Identifier: Apache-2.0
"""A limit for tests of code that once ran for ever."""

import collections.abc
import signal

import pytest

PATIENCE = 60


@pytest.fixture
def in_time() -> collections.abc.Iterator[None]:
    """Fail the test if it hangs."""

    def give_up(*_: object) -> None:
        raise AssertionError(f'still running after {PATIENCE} seconds')

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
