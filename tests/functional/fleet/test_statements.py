# SPDX-License-Identifier: Apache-2.0
"""What a fleet at rest costs its database: each statement is counted."""

import collections
import contextlib

import pytest
import sqlalchemy as sa
from memory_leases import SECONDS, Uptime

from compute_agent.fleet import lease, membership, shared_record
from compute_agent.fleet.database import connection, schema
from compute_agent.fleet.values import roles
from compute_agent.state.state import State

SHARES = [f'ironic:shard=rack{n}' for n in range(10)]
MACHINES = ['m1', 'm2', 'm3']
LOOK = 0.5  # seconds between two looks of a standby


class Agent:
    """An agent of one share, with the parts that ask the database.

    :ivar sent: the statements, by their first word
    :ivar connections: the number of its connections so far
    """

    def __init__(self, url, machine, share, clock):
        self.sent = collections.Counter()
        self.connections = 0
        self.engine = connection.engine(url, SECONDS)
        sa.event.listen(self.engine, 'before_cursor_execute', self._note)
        sa.event.listen(self.engine, 'connect', self._connect)
        me = lease.Member(
            who=f'{machine}-{share}',
            host=machine,
            pid=7,
            lease_seconds=SECONDS,
        )
        self.member = membership.Membership(
            lease.Leases(self.engine),
            me,
            share=share,
            driver='ironic',
            clock=clock,
        )
        self.record = shared_record.SharedRecord(self.engine, share, me.who)
        self.state = State.in_memory('test')
        self.replica = self.state.replica(self.record, share)
        self.member.record = self.replica
        self.member.note('')

    def turn(self):
        """Do what the thread of the cycles asks before a cycle that is quiet."""
        if self.member.epoch is None:
            self.replica.catch_up()
        elif self.replica.epoch is None:
            self.replica.take_over(self.member.epoch)
        else:
            self.record.take_asked(self.member.epoch)

    def close(self):
        self.state.close()
        self.engine.dispose()

    def _note(self, _db, _cursor, statement, *_rest):
        self.sent[statement.split(maxsplit=1)[0].lower()] += 1

    def _connect(self, db, _record):
        self.connections += 1
        db.execute('pragma synchronous = off')


@pytest.fixture
def fleet(tmp_path):
    """Three machines, each with an agent of each of ten shares, at rest."""
    clock = Uptime()
    url = f'sqlite+pysqlite:///{tmp_path}/shared.sqlite'
    made = connection.engine(url)
    schema.prepare(made)
    made.dispose()
    with contextlib.ExitStack() as stack:
        agents = []
        for share in SHARES:
            for machine in MACHINES:
                one = Agent(url, machine, share, clock)
                stack.callback(one.close)
                one.member.look()
                one.turn()
                agents.append(one)
        yield clock, agents


def live(clock, agents, seconds):
    """Let the threads of all agents look as often as they do."""
    often = round(SECONDS / roles.LOOKS / LOOK)
    for step in range(1, round(seconds / LOOK) + 1):
        clock.now += LOOK
        for one in agents:
            is_standby = one.member.epoch is None
            if is_standby or step % often == 0:
                one.member.look()
            if is_standby and step % often == 0:
                one.turn()


def test_three_agents_of_ten_shares_at_rest(fleet):
    """The table of docs/fleet.md; an agent's other threads connect as well."""
    clock, agents = fleet
    for one in agents:
        one.sent.clear()
    live(clock, agents, SECONDS)
    holders = [one for one in agents if one.member.epoch]
    standbys = [one for one in agents if not one.member.epoch]
    assert (len(holders), len(standbys)) == (10, 20)
    for one in holders:  # a beat, and the standbys: 5 times
        assert one.sent == {'update': 5, 'select': 5}
    for one in standbys:  # 30 looks; 5 times its own beat, and the record
        assert one.sent == {'update': 5, 'select': 40}
    assert {one.connections for one in agents} == {1}
    for one in holders:
        one.sent.clear()
        one.turn()
        assert one.sent == {'select': 1}  # the orders, before a cycle
