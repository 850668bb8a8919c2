# SPDX-License-Identifier: Apache-2.0
"""Each operation is one request of placement's API, to the letter."""

import json

import pytest

from compute_agent.plan.operations import operations as ops
from compute_agent.tree import inventory
from report_client.http.messages import codec, codec_writes

UUID = '00000000-0000-0000-0000-000000000001'
PARENT = '00000000-0000-0000-0000-000000000002'
AGG1 = '00000000-0000-0000-0000-0000000000a1'
AGG2 = '00000000-0000-0000-0000-0000000000a2'
PROVIDER = f'/resource_providers/{UUID}'


def set_names(kind, *names):
    return kind(
        uuid=UUID,
        name='node',
        names=frozenset(names),
        before=frozenset({'GONE'}),
        foreign=frozenset({'GONE'}),
    )


def set_inventories(**totals):
    return ops.SetInventories(
        uuid=UUID,
        name='node',
        inventories={
            rc: inventory.Inventory(total=total, allocation_ratio=1.5)
            for rc, total in totals.items()
        },
        before={'GONE': inventory.Inventory(total=1)},
    )


def record(total):
    return {
        'total': total,
        'reserved': 0,
        'min_unit': 1,
        'max_unit': 2147483647,
        'step_size': 1,
        'allocation_ratio': 1.5,
    }


def update(name, parent):
    return ops.UpdateProvider(
        uuid=UUID,
        name=name,
        parent_uuid=parent,
        old_name='old',
        old_parent_uuid=PARENT,
    )


REQUESTS = {
    'a trait is created': (
        ops.CreateTrait(name='CUSTOM_A'),
        ('PUT', '/traits/CUSTOM_A', None),
    ),
    'a class is created': (
        ops.CreateResourceClass(name='CUSTOM_GOLD'),
        ('PUT', '/resource_classes/CUSTOM_GOLD', None),
    ),
    'a root is created': (
        ops.CreateProvider(uuid=UUID, name='node 1', parent_uuid=None),
        ('POST', '/resource_providers', {'uuid': UUID, 'name': 'node 1'}),
    ),
    'a child is created': (
        ops.CreateProvider(uuid=UUID, name='gpu', parent_uuid=PARENT),
        (
            'POST',
            '/resource_providers',
            {'uuid': UUID, 'name': 'gpu', 'parent_provider_uuid': PARENT},
        ),
    ),
    'a provider is renamed where it stands': (
        update('new', PARENT),
        ('PUT', PROVIDER, {'name': 'new', 'parent_provider_uuid': PARENT}),
    ),
    'a provider becomes a root': (
        update('old', None),
        ('PUT', PROVIDER, {'name': 'old', 'parent_provider_uuid': None}),
    ),
    'a provider is deleted': (
        ops.DeleteProvider(uuid=UUID, name='node'),
        ('DELETE', PROVIDER, None),
    ),
    'traits are replaced': (
        set_names(ops.SetTraits, *'DBECA'),
        (
            'PUT',
            f'{PROVIDER}/traits',
            {'resource_provider_generation': 7, 'traits': list('ABCDE')},
        ),
    ),
    'no trait is left': (
        set_names(ops.SetTraits),
        (
            'PUT',
            f'{PROVIDER}/traits',
            {'resource_provider_generation': 7, 'traits': []},
        ),
    ),
    'aggregates are replaced': (
        set_names(ops.SetAggregates, AGG2, AGG1),
        (
            'PUT',
            f'{PROVIDER}/aggregates',
            {'resource_provider_generation': 7, 'aggregates': [AGG1, AGG2]},
        ),
    ),
    'inventories are replaced': (
        set_inventories(VCPU=8, DISK_GB=100),
        (
            'PUT',
            f'{PROVIDER}/inventories',
            {
                'resource_provider_generation': 7,
                'inventories': {'DISK_GB': record(100), 'VCPU': record(8)},
            },
        ),
    ),
    'no inventory is left': (
        set_inventories(),
        (
            'PUT',
            f'{PROVIDER}/inventories',
            {'resource_provider_generation': 7, 'inventories': {}},
        ),
    ),
}


@pytest.mark.catches(
    'aggregates are written without a generation',
    case='aggregates are replaced',
)
@pytest.mark.catches(
    'an empty trait list is sent as a DELETE without a generation',
    case='no trait is left',
)
@pytest.mark.parametrize(
    ('operation', 'sent'), REQUESTS.values(), ids=REQUESTS.keys()
)
def test_an_operation_is_one_request(operation, sent):
    method, path, body = sent
    assert codec_writes.request(operation, {UUID: 7}) == codec.Request(
        method=method, path=path, body=body
    )


@pytest.mark.parametrize(
    'operation',
    [operation for operation, _ in REQUESTS.values()],
    ids=REQUESTS.keys(),
)
def test_the_body_is_json(operation):
    body = codec_writes.request(operation, {UUID: 7}).body
    assert json.loads(json.dumps(body)) == body


def test_classes_are_sent_in_order():
    body = codec_writes.request(
        set_inventories(VCPU=8, DISK_GB=100), {UUID: 7}
    ).body
    assert list(body['inventories']) == ['DISK_GB', 'VCPU']


@pytest.mark.parametrize('generation', [0, 1, 2**31])
def test_the_generation_is_the_one_that_is_given(generation):
    body = codec_writes.request(
        set_names(ops.SetTraits), {UUID: generation}
    ).body
    assert body['resource_provider_generation'] == generation


def test_the_oldest_version_has_reshapes_and_the_newest_is_known():
    assert codec.OLDEST == (1, 30)
    assert codec.NEWEST == (1, 39)
