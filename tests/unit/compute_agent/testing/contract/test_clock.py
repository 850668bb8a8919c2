# SPDX-License-Identifier: Apache-2.0
"""The clock moves for the driver, and for nobody else."""

import datetime as dt
import time
from datetime import date, datetime
from time import time as now

import pytest

from compute_agent.testing.contract import clock, watch

HOUR = 3600
PACKAGE = __name__.partition('.')[0]


@pytest.fixture
def moved():
    with clock.Clock().installed(PACKAGE) as made:
        made.move(HOUR)
        yield made


@pytest.mark.parametrize(
    'ask',
    [
        lambda: time.time() + 0,
        lambda: time.time_ns() / 1e9,
        lambda: now() + 0,
        lambda: time.monotonic() + 0,
        lambda: time.mktime(time.localtime()),
        lambda: dt.datetime.now().timestamp(),  # noqa: DTZ005
        lambda: datetime.now(dt.UTC).timestamp(),
        lambda: datetime.utcnow().replace(tzinfo=dt.UTC).timestamp(),  # noqa: DTZ003
    ],
)
def test_the_driver_is_told_another_time(ask, moved):
    told = ask()
    with watch.agent_runs():
        true = ask()
    assert HOUR - 60 < told - true < HOUR + 60


def test_a_clock_that_only_runs_on_is_not_set_back(moved):
    before = time.monotonic(), time.time()
    moved.move(-2 * HOUR)
    assert time.monotonic() >= before[0]
    assert time.time() < before[1]


def test_a_date_moves_and_both_stay_what_they_are(moved):
    with watch.agent_runs():
        today = date.today()  # noqa: DTZ011
    moved.move(48 * HOUR)
    assert (date.today() - today).days in {2, 3}  # noqa: DTZ011
    told = datetime.now(dt.UTC)
    assert isinstance(told, datetime)
    assert isinstance(dt.date(2026, 1, 1), date)
    assert type(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)) is type(told)
    assert issubclass(type(told), dt.datetime)


def test_all_is_as_before_at_the_end():
    true = time.time, dt.datetime, dt.date, now
    with clock.Clock().installed(PACKAGE):
        assert dt.datetime is not true[1]
    assert (time.time, dt.datetime, dt.date, now) == true
