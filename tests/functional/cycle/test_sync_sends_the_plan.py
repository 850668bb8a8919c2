# SPDX-License-Identifier: Apache-2.0
"""What ``plan`` shows is what ``sync`` sends, one for one, in that order."""

import dataclasses

import pytest
from agents import NODE

from compute_agent.plan.operations import operations as ops
from report_client.http.messages import codec_writes
from report_client.plan import render

AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
NUMA0 = '33333333-3333-4333-8333-333333333330'
NUMA1 = '33333333-3333-4333-8333-333333333331'
PGPU = '44444444-4444-4444-8444-444444444444'
SHARED = '55555555-5555-4555-8555-555555555555'


def nothing(tree, node):
    pass


def flat(tree, node):
    tree.update_inventory(
        node, {'VCPU': {'total': 8}, 'MEMORY_MB': {'total': 4096}}
    )
    tree.declare_traits(node, 'HW_CPU_X86_AVX')


def nested(tree, node):
    for name, uuid in (('numa0', NUMA0), ('numa1', NUMA1)):
        if not tree.exists(name):
            tree.new_child(name, node, uuid)
        tree.update_inventory(name, {'VCPU': {'total': 4}})
        tree.declare_traits(name, 'HW_NUMA_ROOT')
    if not tree.exists('pgpu'):
        tree.new_child('pgpu', 'numa1', PGPU)
    tree.update_inventory('pgpu', {'VGPU': {'total': 2}})
    tree.declare_aggregates(node, AGGREGATE)


def moved(tree, node):
    """The GPU sits below the other NUMA node, the first one is gone."""
    nested(tree, node)
    tree.remove('pgpu')
    tree.new_child('pgpu', node, PGPU)
    tree.update_inventory('pgpu', {'VGPU': {'total': 2}})
    tree.remove('numa0')


def renewed(tree, node):
    """Another provider takes the name of one that goes."""
    nested(tree, node)
    tree.remove('pgpu')
    tree.new_child('pgpu', node, SHARED)


def custom(tree, node):
    tree.update_inventory(node, {'CUSTOM_FPGA': {'total': 2}})
    tree.declare_traits(node, 'CUSTOM_B', 'CUSTOM_A')


def shrunk_and_grown(tree, node):
    tree.update_inventory(
        node, {'VCPU': {'total': 4}, 'MEMORY_MB': {'total': 8192}}
    )
    tree.declare_traits(node, 'HW_CPU_X86_AVX2')


def reserved(tree, node):
    tree.update_inventory(
        node,
        {'VCPU': {'total': 8, 'reserved': 8}, 'MEMORY_MB': {'total': 4096}},
    )
    tree.update_traits(node, ['HW_CPU_X86_AVX'])


def without_memory(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


def bare(tree, node):
    for uuid in reversed(tree.get_provider_uuids(node)[1:]):
        tree.remove(uuid)
    tree.update_traits(node, [])
    tree.update_inventory(node, {})


def sharing(tree, node):
    if not tree.exists('shared'):
        tree.new_root('shared', SHARED)
    tree.update_inventory('shared', {'DISK_GB': {'total': 100}})
    tree.declare_traits('shared', 'MISC_SHARES_VIA_AGGREGATE')
    tree.declare_aggregates('shared', AGGREGATE)
    tree.declare_aggregates(node, AGGREGATE)


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize(
    ('before', 'after'),
    [
        (None, flat),
        (None, nested),
        (None, custom),
        (None, sharing),
        (flat, nested),
        (flat, shrunk_and_grown),
        (shrunk_and_grown, flat),
        (flat, reserved),
        (flat, without_memory),
        (without_memory, flat),
        (nested, moved),
        (moved, nested),
        (nested, renewed),
        (nested, bare),
        (custom, bare),
        (sharing, nothing),
    ],
    ids=lambda f: getattr(f, '__name__', 'nothing yet'),
)
def test_the_plan_is_what_is_sent(
    placement, agent_factory, operator, before, after
):
    agent = agent_factory(before or after)
    if before is not None:
        agent.done()
    agent.driver.describe = after
    placement.clear()
    (planned,) = agent.plan()
    assert placement.writes == []
    placement.clear()
    (synced,) = agent.done()
    assert [_sent(r) for r in placement.writes] == [
        _meant(operation) for operation in planned.plan.operations
    ]
    assert render.text(synced.plan, 'node') == render.text(
        planned.plan, 'node'
    )
    assert synced.applied == planned.plan.operations
    assert _contents(operator) == _expected(synced.plan)
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_every_guarded_write_carries_the_generation_of_the_answer_before(
    placement, agent_factory
):
    agent = agent_factory(nested)
    agent.done()
    agent.driver.describe = moved
    agent.done()
    generations = {}
    for request in placement.writes:
        generation = (request.body or {}).get('resource_provider_generation')
        if generation is not None:
            uuid = request.path.split('/')[2]
            assert generation == generations.get(uuid, 0), request
            generations[uuid] = generation + 1
    assert max(generations.values()) > 1


def test_no_capacity_is_offered_before_its_traits(placement, agent_factory):
    agent_factory(nested).done()
    for uuid in (NUMA0, NUMA1):
        paths = [r.path for r in placement.writes if uuid in r.path]
        assert [p.rpartition('/')[2] for p in paths] == [
            'traits',
            'inventories',
        ]


def test_a_change_that_shrinks_and_grows_is_two_writes_around_the_traits(
    placement, agent_factory
):
    agent = agent_factory(flat)
    agent.done()
    agent.driver.describe = shrunk_and_grown
    placement.clear()
    agent.done()
    first, traits, second = placement.writes
    totals = [
        {rc: i['total'] for rc, i in r.body['inventories'].items()}
        for r in (first, second)
    ]
    assert totals == [
        {'VCPU': 4, 'MEMORY_MB': 4096},
        {'VCPU': 4, 'MEMORY_MB': 8192},
    ]
    assert traits.path.endswith('/traits')


def test_custom_names_come_first_and_once(placement, agent_factory):
    agent = agent_factory(custom)
    agent.done()
    paths = [r.path for r in placement.writes]
    assert paths[:3] == [
        '/traits/CUSTOM_A',
        '/traits/CUSTOM_B',
        '/resource_classes/CUSTOM_FPGA',
    ]
    agent.driver.describe = bare
    agent.done()
    agent.driver.describe = custom
    placement.clear()
    agent.done()
    assert not [r for r in placement.writes if 'CUSTOM' in r.path]


def test_the_node_is_named_in_the_text_of_its_plan(agent_factory):
    (planned,) = agent_factory(flat).plan()
    text = render.text(planned.plan, planned.node.name)
    assert text.splitlines()[0] == f'node-1 ({NODE})'
    assert text.splitlines()[-1] == '  3 operations'


def _sent(request):
    """Return a recorded write without the generation."""
    body = dict(request.body or {})
    body.pop('resource_provider_generation', None)
    return request.method, request.path, body


def _meant(operation):
    """Return the same of the request that an operation stands for."""
    request = codec_writes.request(operation, {})
    body = dict(request.body or {})
    body.pop('resource_provider_generation', None)
    return request.method, request.path, body


def _expected(plan):
    """Return what a plan makes of what it was made upon."""
    after = ops.simulate(plan.operations, plan.before)
    return {
        p.name: (
            p.uuid,
            after[p.parent_uuid].name if p.parent_uuid else None,
            {rc: dataclasses.asdict(i) for rc, i in p.inventories.items()},
            p.traits,
            p.aggregates,
        )
        for p in after.values()
    }


def _contents(operator):
    return {
        name: tuple(one.values()) for name, one in operator.holdings().items()
    }
