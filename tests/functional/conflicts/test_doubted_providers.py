# SPDX-License-Identifier: Apache-2.0
"""A provider that is not as remembered is doubted, while others write to it.

A thread finds before its write that the content changed and the generation did
not; it notes that the provider is to be read again. Another that came to know
it anew meanwhile is not overwritten with what is older.
"""

import pytest
from agents import NODE
from overtaken import AGGREGATE, NODES, OTHER, SHARED, SHARES, Overtaken

from compute_agent import errors
from compute_agent.tree import assertion


def describe(tree, node):
    tree.declare_aggregates(node, AGGREGATE)
    if node == 'node-1':
        if not tree.exists(SHARED):
            tree.new_root('shared', SHARED)
        tree.update_inventory(SHARED, {'DISK_GB': {'total': 100}})
        tree.declare_traits(SHARED, SHARES)
        tree.declare_aggregates(SHARED, AGGREGATE)


@pytest.fixture
def kept():
    opened = Overtaken.in_memory('test')
    yield opened
    opened.close()


@pytest.fixture
def agent(agent_factory, kept):
    made = agent_factory(describe, state=kept, nodes=NODES)
    made.done()
    made.done()
    return made


def recreate(operator):
    """Make the shared provider anew, by as many writes as it had."""
    generation = operator.generation(SHARED)
    operator.delete(SHARED)
    operator.create(SHARED, 'shared')
    operator.set_aggregates(AGGREGATE, uuid=SHARED)
    operator.set_inventories({'DISK_GB': {'total': 100}}, SHARED)
    operator.add_traits(SHARES, 'CUSTOM_OPERATOR', uuid=SHARED)
    assert operator.generation(SHARED) == generation


def write(agent, node, trait, looked=lambda: None):
    """Add a trait to the shared provider, as the thread of a node does.

    :param looked: called once the node was looked at
    """
    seen = agent.client.observe([node])[node]
    tree = seen.tree()
    tree.declare_traits(SHARED, trait)
    looked()
    plan = agent.plan_for(tree, seen)
    assert agent.applied(plan)


@pytest.mark.catches(
    'invalidating a reading overwrites what another thread wrote'
)
@pytest.mark.parametrize(
    ('when', 'point'), [('behind', 'readings'), ('ahead', 'save')]
)
def test_what_another_thread_wrote_meanwhile_stays_its_own(
    agent, kept, operator, when, point
):
    recreate(operator)

    def overtake():
        with pytest.raises(errors.Replan):
            write(agent, NODE, 'CUSTOM_X')
        write(agent, NODE, 'CUSTOM_X')

    with pytest.raises(errors.Replan, match='changed without'):
        write(
            agent,
            OTHER,
            'CUSTOM_Y',
            lambda: getattr(kept, when).update({point: overtake}),
        )
    assert kept.ahead == kept.behind == {}
    ours = kept.records.record([SHARED], NODE).ours
    assert 'CUSTOM_X' in ours.get((SHARED, assertion.Kind.TRAIT), ())
    remembered = kept.snapshot.readings([SHARED])[SHARED].provider
    assert remembered.generation == operator.generation(SHARED)
    assert remembered.traits == operator.traits(SHARED)


def test_what_nobody_came_to_know_meanwhile_is_read_again(
    agent, kept, operator
):
    recreate(operator)
    with pytest.raises(errors.Replan, match='changed without'):
        write(agent, OTHER, 'CUSTOM_Y')
    assert kept.snapshot.readings([SHARED])[SHARED].read_at == 0
    write(agent, OTHER, 'CUSTOM_Y')
    assert operator.traits(SHARED) == {SHARES, 'CUSTOM_OPERATOR', 'CUSTOM_Y'}
