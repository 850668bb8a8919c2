# SPDX-License-Identifier: Apache-2.0
"""A custom name that many nodes want is created once."""

import collections

NODES = {
    f'{number:08}-1111-4111-8111-111111111111': f'node-{number}'
    for number in range(24)
}


def describe(tree, node):
    tree.update_inventory(node, {'CUSTOM_GOLD': {'total': 1}})
    tree.declare_traits(node, 'CUSTOM_A', 'CUSTOM_B')


def creations(placement):
    return collections.Counter(
        r.path
        for r in placement.writes
        if r.path.startswith(('/traits/', '/resource_classes/'))
    )


def test_nodes_side_by_side_create_each_name_once(placement, agent_factory):
    agent = agent_factory(describe, nodes=NODES, workers=8)
    agent.done()
    assert creations(placement) == {
        '/traits/CUSTOM_A': 1,
        '/traits/CUSTOM_B': 1,
        '/resource_classes/CUSTOM_GOLD': 1,
    }
    reads = [r for r in placement.requests if r.method == 'GET']
    assert len(placement.writes) == 3 + 3 * len(NODES)
    assert len(reads) == 3  # all providers, /traits, /resource_classes


def test_a_name_that_vanishes_meanwhile_is_created_again(
    placement, agent_factory, operator
):
    agent = agent_factory(describe, nodes=NODES, workers=8)
    agent.done()
    for uuid in NODES:
        operator.remove_traits('CUSTOM_A', uuid=uuid)
    placement.delete('/traits/CUSTOM_A')
    placement.clear()
    agent.done()
    assert creations(placement)['/traits/CUSTOM_A'] >= 1
    assert all('CUSTOM_A' in operator.traits(uuid) for uuid in NODES)
