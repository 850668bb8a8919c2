# SPDX-License-Identifier: Apache-2.0
"""Nodes move between two shares of one database, in random order.

Nobody is asked. At each moment at most one share may write to a node, or its
record lies between the two. Agents die between two turns, and while a record
moves; lists overlap, and nodes are in neither.
"""

import contextlib

import hypothesis
import moving_nodes
from crashing import Killed
from examples import examples
from hypothesis import strategies as st
from moving_nodes import NODES, OPERATORS, RACK1, RACK2

from compute_agent import errors, testing
from compute_agent.fleet.database import connection

SHARES = (RACK1, RACK2)
SOME = list(NODES)[:3]
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(['turn', 'turn', 'turn', 'follow']),
        st.sampled_from(SHARES),
    ),
    st.tuples(
        st.sampled_from(['die', 'die_before', 'die_after', 'lose_disk']),
        st.sampled_from(SHARES),
    ),
    st.tuples(
        st.sampled_from(['one', 'two', 'both', 'neither', 'delete']),
        st.sampled_from(SOME),
    ),
)


class Moves:
    """The agents of both shares, and the judge."""

    def __init__(self, placement, engine, *, takes_over):
        self.site = moving_nodes.Site(engine, placement)
        self.site.takes_over = takes_over
        self.site.max_removed_percent = None
        self.site.cloud.racks = {uuid: {RACK1} for uuid in SOME}
        self.kept: set[str] = set()
        self.agents = {share: self.site.start(share) for share in SHARES}
        self.turn(RACK1)
        self.turn(RACK2)
        for uuid in SOME:
            placement.others.add_traits(uuid, OPERATORS)
        self.kept = set(SOME)

    # --- what happens ----------------------------------------------------------

    def one(self, uuid):
        self.site.cloud.move(uuid, RACK1)

    def two(self, uuid):
        self.site.cloud.move(uuid, RACK2)

    def both(self, uuid):
        self.site.cloud.move(uuid, RACK1, RACK2)

    def neither(self, uuid):
        self.site.cloud.move(uuid)

    def delete(self, uuid):
        self.site.cloud.racks.pop(uuid, None)

    def turn(self, share):
        agent, before = self.agents[share], len(self.site.placement.writes)
        may = {u for u in SOME if share in self.site.rights(u)}
        with contextlib.suppress(errors.AgentError):
            agent.turn()
        may |= {u for u in SOME if share in self.site.rights(u)}
        for sent in self.site.placement.writes[before:]:
            _, collection, *rest = sent.path.split('/')
            if collection == 'resource_providers':
                uuid = rest[0] if rest else sent.body['uuid']
                assert uuid in may, f'{share} sends {sent}'
        self.judge()

    def follow(self, share):
        """Have a standby take over from an agent that is dead."""
        self.agents[share].kill()
        self.start(share, None)

    def die(self, share):
        self.start(share, self.agents[share].kill())

    def lose_disk(self, share):
        self.agents[share].kill()
        self.start(share, None)

    def die_before(self, share):
        self.dies_at_a_move(share, is_done=False)

    def die_after(self, share):
        self.dies_at_a_move(share, is_done=True)

    def dies_at_a_move(self, share, *, is_done):
        """Kill the agent in its turn, if a record moves in it."""
        record = self.agents[share].record
        commit = record.commit

        def killing(*args):
            if len(args) > 3 and args[3]:
                if is_done:
                    commit(*args)
                raise Killed('the process is dead')
            return commit(*args)

        record.commit = killing
        try:
            self.turn(share)
        except Killed:
            self.judge()
        self.die(share)

    def start(self, share, disk):
        self.agents[share] = self.site.start(share, disk)
        self.site.let_leases_end(*self.agents.values())

    # --- what must be so -------------------------------------------------------

    def judge(self):
        for uuid in SOME:
            assert len(self.site.rights(uuid)) <= 1
        there = self.site.roots()
        self.kept &= there
        for uuid in self.kept:
            assert OPERATORS in self.site.placement.others.traits(uuid)

    def settle(self):
        for uuid, racks in self.site.cloud.racks.items():
            if len(racks) != 1:
                self.two(uuid)
        for _ in range(5):
            self.site.time.now += 2 * 3600
            for share in SHARES:
                self.turn(share)
        assert self.site.between() == set()
        assert self.site.roots() == {*self.site.cloud.racks}
        for uuid, (rack,) in self.site.cloud.racks.items():
            assert self.site.marks(uuid) == [rack]
            assert self.site.rights(uuid) == {rack}
        for agent in self.agents.values():
            assert not moving_nodes.waits(agent)


@hypothesis.given(steps=st.lists(STEPS, max_size=25), takes_over=st.booleans())
@hypothesis.settings(max_examples=examples(80), deadline=None)
def test_a_node_is_of_one_share_at_a_time_and_nobody_is_asked(
    steps, takes_over
):
    engine = connection.engine('sqlite+pysqlite:///:memory:')
    with testing.Placement() as placement, contextlib.ExitStack() as undo:
        undo.callback(engine.dispose)
        moves = Moves(placement, engine, takes_over=takes_over)
        undo.callback(moves.site.close)
        for step, given in steps:
            getattr(moves, step)(given)
        moves.settle()
