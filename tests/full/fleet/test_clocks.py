# SPDX-License-Identifier: Apache-2.0
"""Two daemons whose wall clocks differ by two hours, on a real PostgreSQL.

Agents never compare the clocks of two machines. So a wrong clock makes no
holder look dead, keeps no dead one alive, and changes nothing but the dates in
the history.
"""

import json
import subprocess

import accidents
import clocks
import databases
import described
import fleet as fleets
import pytest
import sqlalchemy

from compute_agent.fleet.values import roles

pytestmark = pytest.mark.long
LEASE = 6.0
HOUR = 3600
A, B = 'rack1-a', 'rack1-b'


@pytest.fixture
def own():
    """The clocks of the two machines, by the letter of the agent."""
    return {}


@pytest.fixture
def fleet(pair, tmp_path, own):
    """The agents A, an hour ahead, and B, an hour behind; A holds the lease."""
    if clocks.library() is None:
        pytest.fail(clocks.MISSING)
    own['a'] = clocks.Clock(tmp_path / 'clock-a', HOUR)
    own['b'] = clocks.Clock(tmp_path / 'clock-b', -HOUR)
    nodes = described.FakeNodes(6)
    with (
        fleets.at_a_site(tmp_path, pair) as site,
        fleets.running(site, nodes, 'rack1', LEASE, clocks=own) as made,
    ):
        yield made


@pytest.mark.parametrize('turns', [False, True])
def test_a_clock_that_is_wrong_by_an_hour_does_not_matter(
    fleet, own, *, turns
):
    """Each takes over from the other; the clocks may be set meanwhile."""
    assert fleet.holder() == A
    holds_on(fleet)
    if turns:
        own['a'].set(-HOUR)
        own['b'].set(HOUR)
        holds_on(fleet)
    for killed, successor in ((A, B), (B, A)):
        fleet.daemons[killed].kill()
        fleet.nodes.change()
        fleet.nodes.arrive()
        fleet.tell()
        databases.wait_for(
            lambda successor=successor: fleet.holder() == successor,
            f'{successor} takes over',
        )
        databases.wait_for(fleet.is_right, f'right with {successor}')
        holds_on(fleet)
        fleet.daemons[killed].start()
        fleet.wait_for_standby(killed, 0)
    assert fleet.row()[0] == 3
    assert accidents.two_writers(fleet.site.record) == []
    assert HOUR < spread(fleet) < 3 * HOUR


def test_status_tells_the_age_of_a_beat_by_no_wall_clock(fleet, own):
    for who in (A, B):
        for ahead in (-HOUR, HOUR):
            own[who[-1]].set(ahead)
            shown = subprocess.run(
                fleet.daemons[who].command('status', '-f', 'json'),
                capture_output=True,
                check=True,
                text=True,
            )
            (share,) = json.loads(shown.stdout)['shares']
            assert share['holder']['process'] == fleet.daemons[A].pid
            assert 0 <= share['beat_age'] < HOUR / 2
            assert len(share['standbys']) == 1


def holds_on(fleet):
    """Wait for some leases' beats; nobody else may take the lease meanwhile."""
    epoch, pid, beat = fleet.row()
    later = beat + 3 * roles.LOOKS
    databases.wait_for(lambda: fleet.row()[2] > later, 'the holder beats')
    assert fleet.row()[:2] == (epoch, pid)


def spread(fleet):
    """Return the seconds between the first and the last date of the history."""
    query = sqlalchemy.text('select max(at) - min(at) from history')
    with fleet.site.engine.connect() as opened:
        return float(opened.execute(query).scalar_one())
