# SPDX-License-Identifier: Apache-2.0
"""An answer that is not as documented is an error; no part of it is used."""

import copy

import pytest

from compute_agent import errors as agent_errors
from compute_agent.tree.assertion import Kind
from compute_agent.tree.inventory import Inventory
from report_client import errors
from report_client.http.messages import codec

ROOT = '00000000-0000-0000-0000-000000000001'
CHILD = '00000000-0000-0000-0000-000000000002'
AGG = '00000000-0000-0000-0000-0000000000a1'

LISTED = {
    'resource_providers': [
        {
            'uuid': ROOT,
            'name': 'node',
            'generation': 7,
            'parent_provider_uuid': None,
            'root_provider_uuid': ROOT,
            'links': [{'rel': 'self', 'href': f'/resource_providers/{ROOT}'}],
        },
        {
            'uuid': CHILD,
            'name': 'gpu',
            'generation': 0,
            'parent_provider_uuid': ROOT,
            'root_provider_uuid': ROOT,
            'links': [],
        },
    ]
}
CREATED = LISTED['resource_providers'][1]
TRAITS = {
    'resource_provider_generation': 7,
    'traits': ['HW_CPU_X86_AVX2', 'CUSTOM_A'],
}
AGGREGATES = {'resource_provider_generation': 7, 'aggregates': [AGG]}
INVENTORIES = {
    'resource_provider_generation': 7,
    'inventories': {
        'VCPU': {
            'total': 8,
            'reserved': 1,
            'min_unit': 1,
            'max_unit': 8,
            'step_size': 1,
            'allocation_ratio': 16.0,
        }
    },
}
CONSUMER = '00000000-0000-0000-0000-0000000000c1'
ALLOCATED = {
    'resource_provider_generation': 7,
    'allocations': {CONSUMER: {'resources': {'VCPU': 2, 'MEMORY_MB': 512}}},
}
ALL_TRAITS = {'traits': ['HW_CPU_X86_AVX2', 'CUSTOM_A']}
ALL_CLASSES = {
    'resource_classes': [
        {'name': 'VCPU', 'links': []},
        {'name': 'CUSTOM_GOLD', 'links': []},
    ]
}


def contents(kind):
    return lambda body: codec.contents(kind, body)


READERS = {
    'list': (codec.listed_providers, LISTED),
    'traits': (contents(Kind.TRAIT), TRAITS),
    'aggregates': (contents(Kind.AGGREGATE), AGGREGATES),
    'inventories': (contents(Kind.INVENTORY), INVENTORIES),
    'written': (codec.generation_after, INVENTORIES),
    'created': (codec.created_generation, CREATED),
    'provider': (codec.created_provider, CREATED),
    'allocated': (codec.allocated, ALLOCATED),
    'all traits': (codec.traits, ALL_TRAITS),
    'all classes': (codec.resource_classes, ALL_CLASSES),
}


def test_a_list_is_all_but_the_contents_of_each_provider():
    assert codec.listed_providers(LISTED) == [
        codec.ListedProvider(
            uuid=ROOT,
            name='node',
            generation=7,
            parent_uuid=None,
            root_uuid=ROOT,
        ),
        codec.ListedProvider(
            uuid=CHILD,
            name='gpu',
            generation=0,
            parent_uuid=ROOT,
            root_uuid=ROOT,
        ),
    ]


def test_an_empty_list_is_an_answer():
    assert codec.listed_providers({'resource_providers': []}) == []


def test_traits_and_aggregates_are_sets_of_a_generation():
    assert codec.contents(Kind.TRAIT, TRAITS) == (
        7,
        {'HW_CPU_X86_AVX2', 'CUSTOM_A'},
    )
    assert codec.contents(Kind.AGGREGATE, AGGREGATES) == (7, {AGG})


def test_inventories_are_whole_records_of_a_generation():
    assert codec.contents(Kind.INVENTORY, INVENTORIES) == (
        7,
        {
            'VCPU': Inventory(
                total=8, reserved=1, max_unit=8, allocation_ratio=16.0
            )
        },
    )


@pytest.mark.parametrize(
    ('kind', 'body', 'nothing'),
    [
        (Kind.TRAIT, {'traits': []}, frozenset()),
        (Kind.AGGREGATE, {'aggregates': []}, frozenset()),
        (Kind.INVENTORY, {'inventories': {}}, {}),
    ],
)
def test_nothing_held_is_an_answer(kind, body, nothing):
    body['resource_provider_generation'] = 0
    assert codec.contents(kind, body) == (0, nothing)


@pytest.mark.parametrize(
    'fields',
    [
        {'allocation_ratio': 0.0},
        {'allocation_ratio': 0},
        {'reserved': 8},
        {'min_unit': 9, 'max_unit': 2},
        {'allocation_ratio': 3.4e38},
    ],
)
def test_whatever_placement_takes_from_others_is_read(fields):
    body = copy.deepcopy(INVENTORIES)
    body['inventories']['VCPU'].update(fields)
    _, found = codec.contents(Kind.INVENTORY, body)
    record = found['VCPU'].to_record()
    assert {field: record[field] for field in fields} == fields


def test_allocations_are_consumers_by_class_of_a_generation():
    other = CONSUMER.replace('c1', 'c2')
    body = copy.deepcopy(ALLOCATED)
    body['allocations'][other] = {'resources': {'VCPU': 1}}
    assert codec.allocated(body) == (
        7,
        {'VCPU': {CONSUMER, other}, 'MEMORY_MB': {CONSUMER}},
    )


def test_nothing_allocated_is_an_answer():
    for none in ({}, {CONSUMER: {'resources': {}}}):
        body = {'resource_provider_generation': 0, 'allocations': none}
        assert codec.allocated(body) == (0, {})


def test_generations_after_writes_are_read():
    assert codec.generation_after(TRAITS) == 7
    assert codec.created_generation(CREATED) == 0


def test_all_names_are_sets():
    assert codec.traits(ALL_TRAITS) == {'HW_CPU_X86_AVX2', 'CUSTOM_A'}
    assert codec.resource_classes(ALL_CLASSES) == {'VCPU', 'CUSTOM_GOLD'}


def test_a_name_that_is_not_unicode_is_left_out_of_all_names():
    half = {'traits': [*ALL_TRAITS['traits'], 'CUSTOM_\ud800']}
    assert codec.traits(half) == codec.traits(ALL_TRAITS)
    half = {
        'resource_classes': [
            *ALL_CLASSES['resource_classes'],
            {'name': 'CUSTOM_\udfff', 'links': []},
        ]
    }
    assert codec.resource_classes(half) == codec.resource_classes(ALL_CLASSES)


@pytest.mark.parametrize('reader', READERS)
def test_more_than_is_documented_is_no_harm(reader):
    read, body = READERS[reader]
    assert read({**body, 'new_in_1_99': {}}) == read(body)


@pytest.mark.parametrize(
    'body', [None, True, 7, 7.5, 'text', [], {}, [{}], {'errors': []}]
)
@pytest.mark.parametrize('reader', READERS)
def test_another_body_is_malformed(reader, body):
    read, _ = READERS[reader]
    with pytest.raises(errors.MalformedAnswer):
        read(body)


# Where to reach into a documented body, and what not to find there.
WRONG = [
    ('list', ['resource_providers'], [None, {}, 'x', [None], [[]], ['x']]),
    ('list', ['resource_providers', 1, 'uuid'], [None, 7, [], {}]),
    ('list', ['resource_providers', 1, 'name'], [None, 7, []]),
    (
        'list',
        ['resource_providers', 1, 'generation'],
        [None, '7', 7.0, True, []],
    ),
    ('list', ['resource_providers', 1, 'parent_provider_uuid'], [7, {}, []]),
    ('list', ['resource_providers', 1, 'root_provider_uuid'], [None, 7]),
    ('traits', ['resource_provider_generation'], [None, '7', 7.0, False]),
    ('traits', ['traits'], [None, 'HW_CPU', {'A': 1}, [None], [7], [['A']]]),
    ('aggregates', ['resource_provider_generation'], [None, '7', True]),
    ('aggregates', ['aggregates'], [None, AGG, {}, [None], [7]]),
    ('inventories', ['resource_provider_generation'], [None, '7', 7.5]),
    ('inventories', ['inventories'], [None, [], 'x', 7]),
    ('inventories', ['inventories', 'VCPU'], [None, [], 8, {}, {'x': 1}]),
    (
        'inventories',
        ['inventories', 'VCPU', 'total'],
        [None, '8', 8.0, True, 0, -1, 2**31, []],
    ),
    (
        'inventories',
        ['inventories', 'VCPU', 'allocation_ratio'],
        [None, '1.0', True, [], -1.0, float('nan'), 10**400],
    ),
    ('inventories', ['inventories', 'VCPU', 'reserved'], [9, -1, None]),
    ('written', ['resource_provider_generation'], [None, '7', 7.0, True]),
    ('created', ['generation'], [None, '0', 0.0, False]),
    ('allocated', ['resource_provider_generation'], [None, '7', True]),
    ('allocated', ['allocations'], [None, [], 'x', 7]),
    ('allocated', ['allocations', CONSUMER], [None, [], 'VCPU', 7]),
    (
        'allocated',
        ['allocations', CONSUMER, 'resources'],
        [None, [], ['VCPU'], 'VCPU', 7],
    ),
    ('all traits', ['traits'], [None, 'A', {}, [None], [{'name': 'A'}]]),
    ('all classes', ['resource_classes'], [None, {}, ['VCPU'], [None], [[]]]),
    ('all classes', ['resource_classes', 0, 'name'], [None, 7, []]),
]


def broken(body, path, value):
    body = copy.deepcopy(body)
    *above, last = path
    place = body
    for step in above:
        place = place[step]
    place[last] = value
    return body


def without(body, path):
    body = copy.deepcopy(body)
    *above, last = path
    place = body
    for step in above:
        place = place[step]
    del place[last]
    return body


@pytest.mark.parametrize(
    ('reader', 'path', 'value'),
    [
        pytest.param(
            reader,
            path,
            value,
            id=f'{reader}-{".".join(map(str, path))}-{value!r:.20}',
        )
        for reader, path, values in WRONG
        for value in values
    ],
)
def test_another_value_in_it_is_malformed(reader, path, value):
    read, body = READERS[reader]
    with pytest.raises(
        errors.MalformedAnswer, match='not have the documented shape'
    ):
        read(broken(body, path, value))


@pytest.mark.parametrize(
    ('reader', 'path'),
    [
        pytest.param(reader, path, id=f'{reader}-{".".join(map(str, path))}')
        for reader, path, _ in WRONG
        if path[-1] not in {'VCPU', 'reserved', 'allocation_ratio', CONSUMER}
    ],
)
def test_a_part_that_is_not_there_is_malformed(reader, path):
    read, body = READERS[reader]
    with pytest.raises(errors.MalformedAnswer):
        read(without(body, path))


def test_one_bad_row_spoils_the_list():
    rows = LISTED['resource_providers']
    with pytest.raises(errors.MalformedAnswer):
        codec.listed_providers({'resource_providers': [*rows, {'uuid': ROOT}]})


def test_one_bad_record_spoils_the_inventories():
    records = INVENTORIES['inventories']
    with pytest.raises(errors.MalformedAnswer):
        codec.contents(
            Kind.INVENTORY,
            {**INVENTORIES, 'inventories': {**records, 'DISK_GB': {}}},
        )


def test_a_malformed_answer_means_that_the_state_is_unknown():
    with pytest.raises(agent_errors.UnknownState) as caught:
        codec.traits({'traits': 'HW_CPU'})
    assert str(caught.value) == (
        "placement's answer does not have the documented shape: "
        "\"{'traits': 'HW_CPU'}\" (TypeError: 'HW_CPU' is not an array)"
    )
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_long_answer_is_shown_by_its_beginning():
    with pytest.raises(errors.MalformedAnswer) as caught:
        codec.traits({'traits': 'A' * 10_000})
    assert len(str(caught.value)) < 300
