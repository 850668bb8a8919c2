# SPDX-License-Identifier: Apache-2.0
"""Nodes that share a provider are worked on side by side, and overtake others.

What one thread wrote and recorded while another was looking is newer than what
that one saw. The interleavings are forced where the looking thread asks the
store; what happens there is what another thread would do.
"""

import uuid as uuidlib

import pytest
from agents import NODE, Clock
from overtaken import AGGREGATE, NODES, OTHER, SHARED, SHARES, Overtaken

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from compute_agent.plan import intents
from compute_agent.tree import assertion

TRAIT = assertion.Kind.TRAIT


def sharing(said=None):
    """Return what says this of the shared provider, by node."""
    said = {} if said is None else said

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_aggregates(node, AGGREGATE)
        if node == 'node-1':
            if not tree.exists(SHARED):
                tree.new_root('shared', SHARED)
            tree.update_inventory(SHARED, {'DISK_GB': {'total': 100}})
            tree.declare_aggregates(SHARED, AGGREGATE)
        if tree.exists(SHARED):
            tree.declare_traits(SHARED, *said.get(node, ()))
        if node == 'node-1':
            tree.add_traits(SHARED, SHARES)

    return describe


@pytest.fixture
def kept():
    """A state that can be overtaken."""
    opened = Overtaken.in_memory('test')
    yield opened
    opened.close()


@pytest.fixture
def agent(agent_factory, kept):
    """An agent that has both nodes, and has said all."""
    made = agent_factory(sharing(), state=kept, nodes=NODES)
    made.done()
    made.done()
    return made


def write(agent, *traits):
    """Add traits to the shared provider as the thread of a node does."""
    seen = agent.client.observe([NODE])[NODE]
    tree = seen.tree()
    tree.declare_traits(SHARED, SHARES, *traits)
    plan = agent.plan_for(tree, seen)
    assert agent.applied(plan)


def ours(kept):
    return kept.records.record([SHARED], NODE).ours.get((SHARED, TRAIT), set())


def test_a_list_older_than_a_write_of_ours_shows_no_generation_that_fell(
    agent, kept, operator
):
    """The list was answered, then the other thread wrote and recorded it."""
    kept.ahead['readings'] = lambda: write(agent, 'CUSTOM_X')
    seen = agent.client.observe([OTHER])[OTHER]
    assert not isinstance(seen, errors.AgentError), seen
    assert 'CUSTOM_X' in seen.providers[SHARED].traits
    assert not kept.snapshot.readings([SHARED])[SHARED].suspect
    assert seen.providers[SHARED].generation == operator.generation(SHARED)


def test_looks_that_are_overtaken_again_and_again_lose_no_record(agent, kept):
    for name in ('CUSTOM_X', 'CUSTOM_Y', 'CUSTOM_Z'):
        kept.ahead['readings'] = lambda name=name: write(agent, name)
        agent.client.observe([OTHER])
        assert name in ours(kept)
    assert kept.records.record([SHARED], NODE).created == {SHARED}


def test_a_reading_older_than_a_write_of_ours_takes_nothing_from_the_record(
    agent, kept, operator
):
    """It was read, then the other thread wrote, then the reading is kept."""
    operator.add_traits('CUSTOM_OPERATOR', uuid=SHARED)  # it is read again
    kept.ahead['save'] = lambda: write(agent, 'CUSTOM_X')
    agent.client.observe([OTHER])
    assert 'CUSTOM_X' in ours(kept)
    remembered = kept.snapshot.readings([SHARED])[SHARED].provider
    assert remembered.generation == operator.generation(SHARED)


def test_what_another_thread_saw_fall_is_unknown_to_a_look_before_that(
    agent, kept, operator, placement
):
    """It counts as another provider in the next cycle, not in the same."""
    for number in range(3):
        operator.add_traits(f'CUSTOM_{number}', uuid=SHARED)
    agent.client.observe([NODE])
    operator.set_inventories({}, SHARED)
    operator.delete(SHARED)
    operator.create(SHARED, 'shared')
    operator.set_aggregates(AGGREGATE, uuid=SHARED)
    operator.add_traits(SHARES, uuid=SHARED)
    kept.ahead['readings'] = lambda: agent.client.observe([NODE])
    found = agent.client.observe([OTHER])[OTHER]
    assert isinstance(found, errors.UnknownState)
    assert kept.records.record([SHARED], NODE).created == {SHARED}
    agent.client.observe([OTHER])
    assert kept.records.record([SHARED], NODE).created == set()


def intent(node, generation, names, added):
    return intents.Intent(
        node_uuid=node,
        uuid=SHARED,
        kind=TRAIT,
        generation=generation,
        names=frozenset(names),
        added=frozenset({added}),
    )


@pytest.mark.parametrize('first', [NODE, OTHER])
def test_of_two_nodes_writes_to_one_provider_the_one_that_was_done_is_ours(
    agent, kept, operator, first
):
    """Killed with both written down at one generation, and one sent."""
    there = operator.traits(SHARED)
    after = operator.generation(SHARED) + 1
    for node in (first, *(NODES.keys() - {first})):
        name = f'CUSTOM_{NODES[node][-1]}'
        kept.journal.begin(
            node, [intent(node, after, {*there, name}, name)], {}
        )
    operator.add_traits('CUSTOM_1', uuid=SHARED)  # stands for the first's PUT
    seen = agent.client.observe([NODE, OTHER])
    assert ours(kept) >= {'CUSTOM_1'}
    assert 'CUSTOM_2' not in ours(kept)
    assert [seen[node].notes for node in NODES] == [(), ()]
    assert (
        kept.journal.intents([NODE]).get(NODE, {})
        == kept.journal.intents([OTHER]).get(OTHER, {})
        == {}
    )


def test_what_is_unclear_of_a_provider_is_said_where_it_is_reached(
    agent, kept, operator
):
    there, after = operator.traits(SHARED), operator.generation(SHARED) + 1
    sent = intent(NODE, after, {*there, 'CUSTOM_X'}, 'CUSTOM_X')
    kept.journal.begin(NODE, [sent], {})
    operator.add_traits('CUSTOM_X', uuid=SHARED)
    operator.add_traits('CUSTOM_OPERATOR', uuid=SHARED)
    operator.set_aggregates('bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', uuid=OTHER)
    seen = agent.client.observe([NODE, OTHER])
    assert ['CUSTOM_X' in note for note in seen[NODE].notes] == [True]
    assert seen[OTHER].notes == ()


def test_what_another_node_has_left_to_remove_was_judged_as_well(
    agent_factory, operator, placement
):
    """The first one's removal is refused, the second meets a conflict."""
    said = {'node-1': ['CUSTOM_1'], 'node-2': ['CUSTOM_2']}
    agent = agent_factory(sharing(said), nodes=NODES)
    agent.done()
    agent.done()
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_1', 'CUSTOM_2'}
    said.clear()
    puts = f'PUT /resource_providers/{SHARED}/traits'
    placement.fault(puts, 400)
    met = []

    def meddle(request):
        if str(request) == puts:
            met.append(request)
            if len(met) == 2:
                operator.add_traits('CUSTOM_OPERATOR', uuid=SHARED)

    placement.before_request(meddle)
    first, second = agent.sync()
    assert first.status is Status.FAILED
    assert second.status is Status.DONE, second.reason
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_OPERATOR'}


def test_workers_that_share_providers_never_see_a_generation_fall(
    agent_factory, operator
):
    nodes = {str(uuidlib.UUID(int=n)): f'node-{n}' for n in range(1, 7)}
    said = {}
    agent = agent_factory(
        sharing(said),
        nodes=nodes,
        workers=4,
        clock=Clock(),
        max_removed_percent=100,
    )
    for cycle in range(4):
        said.update((n, [f'CUSTOM_{n[-1]}_{cycle}']) for n in nodes.values())
        reasons = [result.reason for result in agent.sync()]
        assert not [r for r in reasons if 'fell' in r or 'judged' in r]
    assert agent.state.records.record([SHARED], NODE).created == {SHARED}
    for _ in range(9):  # what waited for its turn, one a cycle at least
        agent.sync()
    last = {f'CUSTOM_{n[-1]}_3' for n in nodes.values()}
    assert operator.traits(SHARED) == {SHARES, *last}
