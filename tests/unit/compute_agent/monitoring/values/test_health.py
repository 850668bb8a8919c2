# SPDX-License-Identifier: Apache-2.0
"""The daemon's health after cycles of each kind."""

import pytest

from compute_agent import errors
from compute_agent.cmd.control.node_states import Moment
from compute_agent.cmd.run import status
from compute_agent.monitoring.values import health
from compute_agent.monitoring.values.health import State

NOON = 1769860800.0
INTERVAL = 60.0
AWAY = errors.Unavailable('placement at http://p does not answer')


class Daemon:
    """Cycles on clocks that move only here; ``step`` moves the date alone."""

    def __init__(self):
        self.now = NOON
        self.step = 0.0
        self.status = status.DaemonStatus(self.moment)

    def moment(self):
        return Moment(date=self.now + self.step, uptime=self.now)

    def cycle(self, exc=None, seconds=2.0):
        self.status.begin()
        self.now += seconds
        if exc is None:
            self.status.end([])
        else:
            self.status.fail(exc)

    def judge(self, after=0.0, interval=INTERVAL, **kwargs):
        self.now += after
        return health.judge(self.status, interval, **kwargs)


@pytest.fixture
def daemon():
    return Daemon()


def test_before_the_first_cycle_it_starts_and_is_not_ready(daemon):
    found = daemon.judge(after=30)
    assert (found.state, found.is_healthy, found.is_ready) == (
        State.STARTING,
        True,
        False,
    )


def test_a_standby_that_could_report_is_ready(daemon):
    daemon.status.stand_by('host-1 holds the share fake', '')
    found = daemon.judge(after=1.0)
    assert (found.state, found.is_healthy, found.is_ready) == (
        State.STANDBY,
        True,
        True,
    )
    assert found.data()['role'] == 'standby'
    assert found.why == 'host-1 holds the share fake'


def test_a_standby_that_could_not_report_is_not_ready(daemon):
    daemon.status.stand_by('host-1 holds the share fake', str(AWAY))
    assert not daemon.judge(after=1.0).is_ready
    found = daemon.judge(after=1000.0)
    assert (found.state, found.is_healthy) == (State.OUTAGE, False)
    assert str(AWAY) in found.why


def test_a_standby_that_reports_is_the_holder(daemon):
    daemon.status.stand_by('host-1 holds the share fake', '')
    daemon.status.hold()
    daemon.cycle()
    found = daemon.judge(after=1.0)
    assert (found.state, found.data()['role']) == (State.OK, 'holder')


def test_an_agent_without_a_share_has_no_role(daemon):
    daemon.cycle()
    assert 'role' not in daemon.judge().data()


def test_a_good_cycle_is_health_for_five_intervals(daemon):
    daemon.cycle()
    assert daemon.judge(after=299).state is State.OK
    found = daemon.judge(after=1)
    assert (found.state, found.is_healthy, found.is_alive) == (
        State.LATE,
        False,
        True,
    )
    assert found.why == 'no good cycle for 5 min, and no cycle finished since'
    assert found.is_ready


def test_an_outage_is_told_from_a_hang(daemon):
    daemon.cycle()
    for _ in range(5):
        daemon.now += 60
        daemon.cycle(AWAY)
    found = daemon.judge()
    assert (found.state, found.is_healthy, found.is_alive) == (
        State.OUTAGE,
        False,
        True,
    )
    assert found.why == f'no good cycle for 5 min: {AWAY}'


def test_a_hang_is_told_from_an_outage_also_after_one(daemon):
    daemon.cycle()
    daemon.now += 60
    daemon.cycle(AWAY)
    daemon.status.begin()
    found = daemon.judge(after=1200)
    assert (found.state, found.is_healthy, found.is_alive) == (
        State.HANG,
        False,
        False,
    )
    assert found.why.startswith(
        'no good cycle for 21 min: a cycle runs for 20 min; SIGUSR2'
    )


@pytest.mark.parametrize('interval', [1, 60, 3600])
@pytest.mark.parametrize('longest', [900.0, 1200.0])
def test_a_cycle_hangs_at_the_limit_of_systemd_whatever_the_interval(
    daemon, interval, longest
):
    """The first cycle of thousands of nodes takes many intervals."""
    daemon.status.begin()
    found = daemon.judge(longest - 1, interval, longest=longest)
    assert found.is_alive
    assert found.is_healthy is (interval == 3600)
    found = daemon.judge(1, interval, longest=longest)
    assert (found.is_alive, found.is_healthy) == (False, False)


def test_a_cycle_that_takes_long_is_late_and_says_so(daemon):
    daemon.cycle(AWAY)
    daemon.status.begin()
    assert daemon.judge(after=299).state is State.OUTAGE
    found = daemon.judge(after=61)
    assert (found.state, found.is_alive) == (State.LATE, True)
    assert found.why.startswith('no good cycle for 6 min: a cycle runs for 6')


def test_an_outage_from_the_start_is_one(daemon):
    daemon.cycle(AWAY)
    assert daemon.judge().state is State.STARTING
    assert daemon.judge(after=300).state is State.OUTAGE
    assert not daemon.judge().is_ready


def test_a_single_cycle_that_was_good_stays_good(daemon):
    daemon.cycle()
    assert daemon.judge(after=1e6, interval=-1).state is State.OK
    daemon.cycle(AWAY)
    assert daemon.judge(after=1e6, interval=-1).state is State.OUTAGE


@pytest.mark.parametrize('step', [3600.0, -86400.0])
def test_a_step_of_the_date_hides_no_hang_and_makes_none(daemon, step):
    daemon.cycle()
    daemon.status.begin()
    daemon.step = step
    found = daemon.judge(after=10)
    assert (found.age, found.state) == (10.0, State.OK)
    found = daemon.judge(after=1190)
    assert (found.age, found.state) == (1200.0, State.HANG)


def test_programs_read_the_age_the_threshold_and_the_last_cycle(daemon):
    daemon.cycle()
    daemon.now += 10
    daemon.cycle(AWAY)
    assert daemon.judge(after=300).data() == {
        'status': 'outage',
        'why': f'no good cycle for 5 min: {AWAY}',
        'age_seconds': 312.0,
        'threshold_seconds': 300.0,
        'last_good_cycle': '2026-01-31T12:00:02Z',
        'last_cycle': {
            'began': '2026-01-31T12:00:12Z',
            'seconds': 2.0,
            'trouble': str(AWAY),
            'nodes': dict.fromkeys(('done', 'waiting', 'failed', 'left'), 0),
        },
        'running_since': None,
    }
