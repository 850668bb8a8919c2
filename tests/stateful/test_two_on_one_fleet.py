# SPDX-License-Identifier: Apache-2.0
"""Two agents on one fleet without a shared record, in random order.

A root is written by one agent only: by the one that created it, then by
whoever got a person's yes for it. Agents restart and lose their records, nodes
come and go, and Ironic takes them out of service.
"""

import agents
import hypothesis
import marked_fleets as fleets
from examples import examples
from hypothesis import strategies as st

from compute_agent import testing
from compute_agent.cmd.plan import waiting
from compute_agent.fleet.values import mark
from compute_agent.limits import approval

AGENTS = ('one', 'two')
NEW = '99999999-2222-4222-8222-222222222222'
EVERY = {**dict(list(fleets.NODES.items())[:2]), NEW: 'new'}
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(['sync', 'sync', 'yes', 'restart', 'lose']),
        st.sampled_from(AGENTS),
    ),
    st.tuples(
        st.sampled_from(['come', 'go', 'maintenance']),
        st.sampled_from(sorted(EVERY)),
    ),
)


class Fight:
    """Two agents on one placement, and whose each root is.

    :ivar owner: root → the agent that may write it; None if it lost its record
    """

    def __init__(self, factory, placement):
        self._factory = factory
        self._placement = placement
        self._world = fleets.World(nodes=dict(list(EVERY.items())[:2]))
        self.owner = {}
        self._agents = {}
        for name in AGENTS:
            self.lose(name)
        self.sync('one')

    def lose(self, name):
        self._start(name, None)
        for uuid, owner in self.owner.items():
            if owner == name:
                self.owner[uuid] = None

    def restart(self, name):
        self._start(name, self._agents[name].state)

    def come(self, uuid):
        self._world.nodes[uuid] = EVERY[uuid]

    def go(self, uuid):
        self._world.nodes.pop(uuid, None)

    def maintenance(self, uuid):
        self._world.maintenance ^= {EVERY[uuid]}

    def yes(self, name):
        """Allow whatever waits beside an agent, and have it begin a cycle."""
        agent = self._agents[name]
        every = fleets.waits(agent)
        agent.state.approvals.grant(waiting.subjects(every), 'a person')
        self.owner |= {
            one.node.uuid: name
            for one in every
            if one.change.subject.kind is approval.Kind.SHARE
        }
        return self.sync(name)

    def sync(self, name):
        rivals = {
            owner
            for uuid, owner in self.owner.items()
            if uuid in self._world.nodes and owner != name
        }
        before = len(self._placement.writes)
        results = self._agents[name].sync()
        roots = set()
        written = self._placement.writes[before:]
        for sent in written:
            _, collection, *rest = sent.path.split('/')
            if collection != 'resource_providers':
                continue
            if sent.method == 'POST':
                assert not rivals, f'{name} creates a root of {rivals}'
                self.owner[sent.body['uuid']] = name
            else:
                assert self.owner[rest[0]] == name, f'{name} sends {sent}'
            roots.add(sent.path)
        assert roots or not written, f'{name} sends {written}'
        found = self._placement.get('/resource_providers')
        there = {one['uuid'] for one in found['resource_providers']}
        self.owner = {u: own for u, own in self.owner.items() if u in there}
        assert not any('nova' in result.reason for result in results)
        return results

    def settle(self):
        """After a yes, all roots of the nodes are one agent's, and in step."""
        for name in AGENTS:
            self.yes(name)
            self.yes(name)
            for result in self.sync(name):
                is_gone = result.node.uuid not in self._world.nodes
                assert result.is_settled or is_gone, result
            own = self._agents[name].state.agent_id
            for uuid in self._world.nodes:
                traits = self._placement.others.traits(uuid)
                assert [one.agent for one in mark.marks(traits)] == [own]

    def _start(self, name, state):
        self._agents[name] = self._factory(
            fleets.Fleet(self._world),
            state=state,
            takes_over=False,
            max_removed_percent=100,
        )


@hypothesis.given(steps=st.lists(STEPS, max_size=25))
@hypothesis.settings(max_examples=examples(200), deadline=None)
def test_a_root_is_written_by_the_agent_that_was_told_last(steps):
    with testing.Placement() as placement:
        factory = agents.AgentFactory(placement)
        try:
            fight = Fight(factory, placement)
            for step, given in steps:
                getattr(fight, step)(given)
            fight.settle()
        finally:
            factory.close()
