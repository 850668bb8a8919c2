# SPDX-License-Identifier: Apache-2.0
"""Allocations as placement writes them, and the reshape as it reads it."""

import pytest

from compute_agent.plan import allocations as alloc
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import inventory
from report_client import errors
from report_client.http.messages import codec_allocations

ANSWER = {
    'allocations': {
        'root': {'resources': {'VGPU': 2, 'VCPU': 1}, 'generation': 3},
        'share': {'resources': {'DISK_GB': 5}, 'generation': 4},
    },
    'project_id': 'p',
    'user_id': 'u',
    'consumer_generation': 7,
    'consumer_type': 'INSTANCE',
}
CONSUMER = alloc.Consumer(
    uuid='c1',
    project_id='p',
    user_id='u',
    generation=7,
    consumer_type='INSTANCE',
    allocations={'root': {'VGPU': 2, 'VCPU': 1}, 'share': {'DISK_GB': 5}},
)


def test_a_consumer_is_read_with_its_providers_generations():
    assert codec_allocations.consumer('c1', ANSWER) == (
        CONSUMER,
        {'root': 3, 'share': 4},
    )


def test_below_1_38_there_is_no_type():
    older = {k: v for k, v in ANSWER.items() if k != 'consumer_type'}
    found, _ = codec_allocations.consumer('c1', older)
    assert found.consumer_type == ''


def test_a_consumer_that_has_nothing_is_none():
    assert codec_allocations.consumer('c1', {'allocations': {}}) is None


@pytest.mark.parametrize(
    'change',
    [
        {'allocations': None},
        {'allocations': {'root': []}},
        {'allocations': {'root': {'resources': {'VGPU': 1}}}},
        {'allocations': {'root': {'generation': 1}}},
        {
            'allocations': {
                'root': {'resources': {'VGPU': '1'}, 'generation': 1}
            }
        },
        {'project_id': None},
        {'user_id': 7},
        {'consumer_generation': None},
        {'consumer_type': None},
    ],
    ids=str,
)
def test_another_shape_is_no_answer(change):
    with pytest.raises(errors.MalformedAnswer):
        codec_allocations.consumer('c1', {**ANSWER, **change})


def test_a_reshape_carries_whole_inventories_and_whole_allocations():
    record = inventory.Inventory(total=2)
    operation = ops.Reshape(
        uuid='root',
        name='node',
        inventories=(
            ops.SetInventories(
                uuid='root',
                name='node',
                inventories={},
                before={'VGPU': record},
            ),
            ops.SetInventories(
                uuid='child',
                name='gpu',
                inventories={'VGPU': record},
                before={},
            ),
        ),
        moves=(
            alloc.Move(
                consumer=CONSUMER,
                allocations={
                    'child': {'VGPU': 2},
                    'root': {'VCPU': 1},
                    'share': {'DISK_GB': 5},
                },
            ),
        ),
    )
    sent = codec_allocations.reshape(operation, {'root': 3, 'child': 0})
    assert (sent.method, sent.path, sent.newest) == (
        'POST',
        '/reshaper',
        (1, 37),
    )
    assert sent.body == {
        'inventories': {
            'root': {'resource_provider_generation': 3, 'inventories': {}},
            'child': {
                'resource_provider_generation': 0,
                'inventories': {'VGPU': record.to_record()},
            },
        },
        'allocations': {
            'c1': {
                'allocations': {
                    'child': {'resources': {'VGPU': 2}},
                    'root': {'resources': {'VCPU': 1}},
                    'share': {'resources': {'DISK_GB': 5}},
                },
                'project_id': 'p',
                'user_id': 'u',
                'consumer_generation': 7,
            }
        },
    }
