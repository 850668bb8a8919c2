# SPDX-License-Identifier: Apache-2.0
"""The shares as a machine sees them that looks at the database for a moment."""

import itertools
import time
import typing

import pytest
from memory_leases import SECONDS, MemoryLeases, Uptime, member

from compute_agent.fleet import lease, overview
from compute_agent.fleet.values import roles

OFTEN = SECONDS / roles.LOOKS


class Cloud:
    """Agents that beat while somebody looks on."""

    def __init__(self, seconds=SECONDS):
        self.leases = MemoryLeases()
        self.clock = Uptime()
        self.slept = 0.0
        self.often = seconds / roles.LOOKS
        self.members = [
            member(self.leases, who, self.clock, seconds=seconds)
            for who in ('holder', 'standby')
        ]
        self.alive = self.members
        self.beat()

    def beat(self):
        for one in self.alive:
            one.look()

    def live(self, times):
        for _ in range(times):
            self.clock.now += self.often
            self.beat()

    def look(self):
        """Return the share; count the time that it takes."""
        self.slept = 0.0

        def sleep(seconds):
            before = self.clock.now // self.often
            self.slept += seconds
            self.clock.now += seconds
            if self.clock.now // self.often > before:
                self.beat()

        (share,) = overview.look(
            typing.cast(lease.Leases, self), self.clock, sleep
        )
        return share

    def rows(self):
        return [*self.leases.rows.values()]

    def standbys(self, share):
        return self.leases.standbys(share)


@pytest.fixture
def cloud():
    made = Cloud()
    made.live(3)
    return made


def test_all_who_beat_are_seen_within_a_beat(cloud):
    share = cloud.look()
    assert share['holder']['host'] == 'host-holder'
    assert share['beat_age'] is not None
    assert [one['host'] for one in share['standbys']] == ['host-standby']
    assert cloud.slept <= OFTEN + 1


@pytest.mark.catches('the age of a beat is by the wall clock')
def test_a_clock_that_is_set_changes_no_age(cloud, monkeypatch):
    hours = itertools.count(1e9, 3600.0)
    monkeypatch.setattr(time, 'time', lambda: next(hours))
    turns = iter([*cloud.members, *cloud.members])

    def sleep(_seconds):
        cloud.clock.now += OFTEN
        next(turns).look()

    (share,) = overview.look(typing.cast(lease.Leases, cloud), sleep=sleep)
    assert len(share['standbys']) == 1
    assert 0 <= share['beat_age'] < 3600


def test_a_holder_that_is_dead_is_looked_for_longer_than_a_beat(cloud):
    cloud.alive = []
    share = cloud.look()
    assert share['beat_age'] is None
    assert share['standbys'] == []
    assert OFTEN < share['looked_for'] < 2 * OFTEN


def test_a_dead_standby_is_left_out(cloud):
    cloud.alive = cloud.members[:1]
    cloud.live(3 * roles.LOOKS)
    assert cloud.look()['standbys'] == []


@pytest.mark.catches('a dead standby is waited for as long as a holder')
def test_nobody_waits_long_for_a_standby_of_a_long_lease():
    cloud = Cloud(seconds=600.0)
    cloud.live(3)
    assert len(cloud.look()['standbys']) == 1
    cloud.alive = cloud.members[:1]
    cloud.live(3 * roles.LOOKS)
    cloud.clock.now += cloud.often - 1  # the holder beats soon
    share = cloud.look()
    assert share['beat_age'] is not None
    assert share['standbys'] == []
    assert cloud.slept < 6
