# SPDX-License-Identifier: Apache-2.0
"""A reshape as people read it, in sums, and as programs do, one by one."""

import json

from compute_agent.plan import allocations as alloc
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import inventory
from report_client.plan import render


def part(uuid, name, before, after):
    return ops.SetInventories(
        uuid=uuid,
        name=name,
        before={rc: inventory.Inventory(total=n) for rc, n in before.items()},
        inventories={
            rc: inventory.Inventory(total=n) for rc, n in after.items()
        },
    )


def move(uuid, before, after):
    return alloc.Move(
        consumer=alloc.Consumer(
            uuid=uuid,
            project_id='p',
            user_id='u',
            generation=1,
            allocations=before,
        ),
        allocations=after,
    )


RESHAPE = ops.Reshape(
    uuid='u1',
    name='node',
    inventories=(
        part('u1', 'node', {'VGPU': 4, 'VCPU': 8}, {'VCPU': 8}),
        part('u2', 'gpu\x1b0', {}, {'VGPU': 4}),
    ),
    moves=(
        move('c1', {'u1': {'VGPU': 1}}, {'u2': {'VGPU': 1}}),
        move(
            'c2',
            {'u1': {'VGPU': 2, 'VCPU': 1}},
            {'u1': {'VCPU': 1}, 'u2': {'VGPU': 1}, 'u3': {'VGPU': 1}},
        ),
    ),
)


def test_it_is_one_line_with_sums():
    assert render.line(RESHAPE) == (
        'reshape node (u1): 3 VGPU from node (2 consumers), '
        '2 VGPU to gpu\\x1b0 (2 consumers), 1 VGPU to u3 (1 consumer), '
        'node: -VGPU, gpu\\x1b0: +VGPU 4'
    )


def test_what_comes_and_goes_at_once_is_two_sums():
    swap = ops.Reshape(
        uuid='u1',
        name='node',
        inventories=(part('u1', 'node', {'VGPU': 4}, {'VGPU': 4}),),
        moves=(
            move('c1', {'u1': {'VGPU': 1}}, {'u2': {'VGPU': 1}}),
            move('c2', {'u2': {'VGPU': 1}}, {'u1': {'VGPU': 1}}),
        ),
    )
    assert render.line(swap) == (
        'reshape node (u1): 1 VGPU from node (1 consumer), '
        '1 VGPU from u2 (1 consumer), 1 VGPU to node (1 consumer), '
        '1 VGPU to u2 (1 consumer)'
    )


def test_as_data_it_has_all_of_every_consumer():
    data = render.operation_data(RESHAPE)
    assert json.loads(json.dumps(data)) == data
    assert (data['operation'], data['provider'], data['uuid']) == (
        'reshape',
        'node',
        'u1',
    )
    first, second = data['inventories']
    assert (first['provider'], first['removed']) == ('node', ['VGPU'])
    assert (second['uuid'], second['added']) == ('u2', ['VGPU'])
    assert data['consumers'][1] == {
        'consumer': 'c2',
        'before': {'u1': {'VGPU': 2, 'VCPU': 1}},
        'after': {'u1': {'VCPU': 1}, 'u2': {'VGPU': 1}, 'u3': {'VGPU': 1}},
    }


def test_it_counts_as_one_operation():
    made = Plan(node_uuid='u1', operations=(RESHAPE,), before={})
    assert render.text(made, 'node').endswith('  1 operation')
    assert (
        render.total([(made, ())], 2)
        == '1 of 2 nodes change; reshape 1; 1 not done'
    )
