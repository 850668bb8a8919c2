# SPDX-License-Identifier: Apache-2.0
"""A node's record as data is read back unchanged, or refused as a whole."""

import copy
import json

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.state.values import node_record
from compute_agent.tree.assertion import Kind
from compute_agent.tree.node import Node

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
LEFT = '00000000-0000-4000-8000-000000000000'
AGGREGATE = '33333333-3333-4333-8333-333333333333'
DRIVER = 'drivers.fake.driver:FakeDriver'
NAMES = {
    Kind.TRAIT: ('CUSTOM_X', 'HW_CPU_X86_AVX2'),
    Kind.AGGREGATE: (AGGREGATE, CHILD),
    Kind.INVENTORY: ('CUSTOM_GOLD', 'VCPU'),
}
SOURCES = ('driver', 'agent', 'file:/etc/nova/provider_config/ä b.yaml')


def node(uuid=NODE, name='node-1', title='rack1'):
    return Node(uuid=uuid, name=name, title=title)


def handed(**record):
    return node_record.NodeRecord(
        node=node(), driver=DRIVER, record=Record(**record)
    )


WHOLE = handed(
    created=frozenset({NODE, CHILD}),
    ours={
        (NODE, Kind.TRAIT): frozenset({'CUSTOM_X', 'COMPUTE_NODE'}),
        (CHILD, Kind.INVENTORY): frozenset({'VGPU'}),
    },
    claims={
        (NODE, Kind.TRAIT): {
            'driver': frozenset({'CUSTOM_X'}),
            'agent': frozenset({'COMPUTE_NODE'}),
        },
        (LEFT, Kind.AGGREGATE): {'driver': frozenset()},
    },
)
DATA = {
    'format': 'compute-agent node record',
    'version': 1,
    'node': {
        'uuid': NODE,
        'name': 'node-1',
        'driver': DRIVER,
        'title': 'rack1',
    },
    'providers': [
        {
            'uuid': NODE,
            'created': True,
            'ours': {'trait': ['COMPUTE_NODE', 'CUSTOM_X']},
            'held': {
                'trait': {'agent': ['COMPUTE_NODE'], 'driver': ['CUSTOM_X']}
            },
        },
        {
            'uuid': LEFT,
            'created': False,
            'ours': {},
            'held': {'aggregate': {'driver': []}},
        },
        {
            'uuid': CHILD,
            'created': True,
            'ours': {'inventory': ['VGPU']},
            'held': {},
        },
    ],
}


# --- the data ----------------------------------------------------------------


def test_the_data_is_sorted_and_has_the_node_s_own_provider_first():
    assert node_record.data(WHOLE) == DATA


def test_what_is_read_is_what_was_written():
    read = node_record.from_data(DATA)
    assert read == WHOLE
    assert read.node.title == 'rack1'  # which no comparison looks at


@st.composite
def records(draw):
    """A record, of any of three providers, that is not empty."""
    uuids = st.sampled_from((NODE, CHILD, LEFT))

    def some(kind):
        return st.frozensets(st.sampled_from(NAMES[kind]))

    ours, held = {}, {}
    for uuid in draw(st.sets(uuids)):
        for kind in draw(st.sets(st.sampled_from(list(Kind)))):
            added = draw(some(kind))
            if added:
                ours[uuid, kind] = added
            holders = draw(
                st.dictionaries(st.sampled_from(SOURCES), some(kind))
            )
            if holders:
                held[uuid, kind] = holders
    created = draw(st.frozensets(uuids, min_size=not (ours or held)))
    return Record(created=created, ours=ours, claims=held)


@settings(max_examples=examples(60), deadline=None)
@given(records(), st.text(st.characters(codec='utf-8'), min_size=1))
def test_any_record_comes_back_from_its_json_as_it_went(record, name):
    one = node_record.NodeRecord(
        node=node(name=name[:200]), driver=DRIVER, record=record
    )
    text = json.dumps(node_record.data(one))
    assert node_record.from_data(json.loads(text)) == one


def test_an_empty_list_says_nothing_and_uuids_are_spelled_one_way():
    data = changed(['providers', 0, 'ours', 'aggregate'], [])
    data = changed(['providers', 0, 'held', 'inventory'], {}, data)
    data = changed(['providers', 0, 'uuid'], NODE.upper(), data)
    data = changed(['node', 'uuid'], NODE.upper(), data)
    assert node_record.from_data(data) == WHOLE


def test_nothing_is_no_record():
    with pytest.raises(errors.ConfigError) as caught:
        handed()
    assert str(caught.value) == (
        f'nothing is recorded of node rack1 ({NODE}): there is nothing to '
        'hand over'
    )
    with pytest.raises(errors.ConfigError, match='nothing is recorded of'):
        node_record.from_data({**DATA, 'providers': []})


# --- what is refused ---------------------------------------------------------


def changed(path, value, body=DATA):
    body = copy.deepcopy(body)
    *above, last = path
    place = body
    for step in above:
        place = place[step]
    place[last] = value
    return body


def refused(data):
    with pytest.raises(errors.ConfigError) as caught:
        node_record.from_data(data)
    text = str(caught.value)
    assert '\n' not in text
    assert len(text) < 300
    return text


@pytest.mark.parametrize(
    'data', [None, 7, 'text', [], [DATA], {}, {'format': 'x'}, {'version': 1}]
)
def test_what_is_no_record_is_told_from_one(data):
    assert refused(data) == (
        'it is not the record of a node; give the output of "compute-agent '
        'state export NODE"'
    )


@pytest.mark.parametrize('rest', [DATA, {'format': DATA['format']}])
def test_a_newer_version_is_refused_whatever_it_holds(rest):
    newer = node_record.VERSION + 1
    said = refused({**rest, 'version': newer, 'new': []})
    assert f'has version {newer}, and this agent reads version 1' in said


@pytest.mark.parametrize('version', [0, -1, True, '1', None, 1.5, [1]])
def test_a_version_that_never_was_is_refused(version):
    assert refused({**DATA, 'version': version}).startswith('version: ')


HALF = '\ud800'
WRONG = [
    (['node'], [None, [], 'node-1']),
    (['node', 'uuid'], [None, 7, '', 'node-1', NODE[:-1], NODE + '\n']),
    (['node', 'name'], [None, 7, '', 'x' * 201, HALF]),
    (['node', 'driver'], [None, '', 'FakeDriver', 'a b:C', 'a:B\n', HALF]),
    (['providers'], [None, {}, 'x']),
    (['providers', 1], [None, [], NODE]),
    (['providers', 1, 'uuid'], [None, 7, 'child', NODE]),
    (['providers', 1, 'created'], [None, 1, 'true']),
    (['providers', 1, 'ours'], [None, [], {'traits': []}]),
    (['providers', 1, 'ours', 'trait'], [None, 'X', ['custom_x'], [7], [[]]]),
    (['providers', 1, 'ours', 'trait'], [['CUSTOM_X\n'], ['']]),
    (['providers', 1, 'ours', 'aggregate'], [['CUSTOM_X'], [None]]),
    (['providers', 1, 'ours', 'inventory'], [['vcpu'], ['A' * 256]]),
    (['providers', 1, 'held'], [None, [], {'traits': {}}]),
    (['providers', 1, 'held', 'trait'], [None, ['X'], {'driver': 'X'}]),
    (['providers', 1, 'held', 'trait'], [{'nova': []}, {'file:': []}]),
    (['providers', 1, 'held', 'trait'], [{'driver\n': []}, {'': []}]),
    (['providers', 1, 'held', 'trait'], [{f'file:{HALF}': []}]),
    (['providers', 1, 'held', 'trait'], [{'driver': ['custom_x']}]),
    (['more'], [None, 1]),
    (['node', 'more'], [None]),
    (['providers', 1, 'more'], [None]),
]


@pytest.mark.parametrize(
    ('path', 'value'),
    [
        pytest.param(path, v, id=f'{".".join(map(str, path))}-{v!r:.20}')
        for path, values in WRONG
        for v in values
    ],
)
def test_anything_odd_is_refused_and_its_place_named(path, value):
    said = refused(changed(path, value))
    known = [step for step in path if step != 'more']
    for step in known[:2]:
        assert str(step) in said
    assert ('more' in said) == ('more' in path)


@pytest.mark.parametrize(
    'path',
    [
        ['version'],
        ['node'],
        ['providers'],
        *(['node', key] for key in DATA['node']),
        *(['providers', 1, key] for key in DATA['providers'][1]),
    ],
    ids=lambda path: '.'.join(map(str, path)),
)
def test_a_part_that_is_missing_is_named(path):
    body = copy.deepcopy(DATA)
    *above, last = path
    place = body
    for step in above:
        place = place[step]
    del place[last]
    assert f'the key {last} is missing' in refused(body)


@pytest.mark.parametrize(
    ('path', 'value', 'line'),
    [
        (
            ['providers', 2, 'ours', 'inventory'],
            ['vgpu'],
            (
                "providers[2]: resource class 'vgpu' is not a name placement "
                'takes: use 1 to 255 of the characters A-Z, 0-9 and _'
            ),
        ),
        (
            ['providers', 2, 'uuid'],
            NODE,
            f'providers[2]: provider {NODE} is listed twice',
        ),
        (
            ['providers', 0, 'held', 'trait'],
            {'nova': []},
            (
                "providers[0].held.trait: 'nova' is wrong here; write a "
                'source: driver, agent, or file: and a path'
            ),
        ),
        (
            ['node', 'driver'],
            'fake',
            "node.driver: 'fake' is wrong here; write a class as module:Class",
        ),
    ],
)
def test_a_line_says_where_and_what_to_write(path, value, line):
    assert refused(changed(path, value)) == line


# --- finding a node ----------------------------------------------------------


def test_a_node_is_found_by_uuid_in_any_case_or_by_name():
    one, two = node(), node(CHILD, 'node-2')
    for wanted in (CHILD, CHILD.upper(), 'node-2'):
        assert node_record.find([one, two], wanted) is two


def test_a_uuid_beats_a_name():
    one, two = node(CHILD, NODE), node(NODE, 'node-2')
    assert node_record.find([one, two], NODE) is two


def test_a_node_is_found_by_what_people_call_it():
    one, two = node(CHILD, CHILD, title='rack2'), node()
    assert node_record.find([one, two], 'rack2') is one
    assert node_record.find([one, two], 'node-1') is two


def unfound(nodes, wanted):
    with pytest.raises(errors.ConfigError) as caught:
        node_record.find(nodes, wanted)
    return str(caught.value)


def test_a_name_that_several_have_needs_the_uuid():
    assert unfound([node(), node(CHILD)], 'node-1') == (
        f'several nodes are called node-1: give the uuid, {NODE}, {CHILD}'
    )


def test_an_unknown_node_is_answered_with_a_few_that_are_known():
    few = [node(), node(CHILD, 'rack2', title='')]
    assert unfound(few, 'nova') == (
        'nothing is recorded of node nova; known nodes: rack1, rack2'
    )
    many = [node(name=f'node-{n}', title='') for n in range(100, 140)]
    assert unfound(many, 'x').endswith(
        'known nodes: node-100, node-101, node-102 and 37 more'
    )
    assert 'node-117' in unfound(many, 'node117').partition('known nodes')[2]


def test_where_no_node_is_known_the_state_may_be_another():
    assert unfound([], 'node-1') == (
        'nothing is recorded of node node-1; the state has no nodes: check '
        '[DEFAULT] state_path'
    )


GIVEN = node_record.GivenRecord(
    share='rack1',
    record=WHOLE,
    generations={NODE: 4, CHILD: 2},
    mark='CUSTOM_COMPUTE_AGENT_RACK1_0123456789AB',
)


def test_a_given_record_is_read_back_unchanged():
    assert node_record.GivenRecord.from_text(GIVEN.text()) == GIVEN


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('no JSON', 'cannot be read'),
        ('[]', 'cannot be read'),
        ('{"share": "rack1"}', 'cannot be read'),
        (GIVEN.text().replace('"version": 1', '"version": 9'), 'version 9'),
        (
            GIVEN.text().replace(
                '"generations": {', '"generations": 1, "x": {'
            ),
            'cannot',
        ),
    ],
)
def test_a_given_record_that_cannot_be_read_is_refused_in_one_line(
    text, words
):
    with pytest.raises(errors.ConfigError, match=words) as caught:
        node_record.GivenRecord.from_text(text)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(
    ('tree', 'seen', 'created'),
    [
        ({NODE, CHILD}, {NODE: 4, CHILD: 9}, {NODE, CHILD}),
        ({NODE, CHILD}, {NODE: 4, CHILD: 1}, {NODE}),
        ({NODE}, {NODE: 5, CHILD: 9}, {NODE}),
        ({NODE, CHILD}, {NODE: 3, CHILD: 9}, None),
        ({CHILD}, {CHILD: 9}, None),
    ],
)
def test_a_given_record_fits_the_providers_that_it_is_about(
    tree, seen, created
):
    """One that was made anew has a lower generation; it is another one."""
    found = GIVEN.fitting(tree, seen)
    assert (found and set(found.record.created)) == created
    assert not found or GIVEN.mark in found.record.ours[NODE, Kind.TRAIT]


def test_a_given_record_about_another_provider_fits_nothing():
    other = node_record.GivenRecord(
        share='rack1',
        record=node_record.NodeRecord(
            node=node(), driver=DRIVER, record=Record(created={CHILD})
        ),
        generations={},
    )
    assert other.fitting({NODE}, {NODE: 1}) is None
