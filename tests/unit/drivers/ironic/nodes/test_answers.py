# SPDX-License-Identifier: Apache-2.0
"""What came is a page, a node, an error of Ironic's, or an unknown state."""

import json

import pytest

from compute_agent import errors
from drivers.ironic.nodes import answers

UUID = '3f2c9a54-6f0e-4c0b-9a1d-8b7a5c0d1e2f'
OTHER = '7f2c9a54-6f0e-4c0b-9a1d-8b7a5c0d1e2f'
NOT_FOUND = f'Node {UUID} could not be found.'


@pytest.mark.parametrize(
    'body',
    [
        None,
        [],
        {},
        b'{"nodes": [{"uu',
        'nodes',
        7,
        [{'uuid': UUID}],
        {'nodes': None},
        {'nodes': {}},
        {'nodes': 'none'},
        {'nodes': [None]},
        {'nodes': [[]]},
        {'nodes': [{'uuid': UUID}, 'more']},
        {'nodes': [{'uuid': UUID}], 'next': None},
        {'nodes': [{'uuid': UUID}], 'next': 7},
        {'nodes': [{'uuid': None}], 'next': 'http://ironic/more'},
        {'nodes': [{}], 'next': 'http://ironic/more'},
        {'nodes': [], 'next': 'http://ironic/more'},
        {'resource_providers': []},
    ],
)
def test_what_is_no_page_is_unknown(body):
    with pytest.raises(errors.UnknownState) as raised:
        answers.page(body)
    assert len(str(raised.value)) < 120


def test_a_page_without_next_is_the_last():
    page = answers.page({'nodes': [{'uuid': UUID}]})
    assert page.rows == [{'uuid': UUID}]
    assert page.marker is None
    assert answers.page({'nodes': []}).rows == []


def test_the_marker_is_the_last_uuid_as_ironic_spells_it():
    rows = [{'uuid': OTHER}, {'uuid': UUID.upper()}]
    page = answers.page({'nodes': rows, 'next': 'http://elsewhere/?marker=x'})
    assert page.marker == UUID.upper()


@pytest.mark.parametrize('ident', [UUID, UUID.upper(), 'no-uuid'])
def test_a_node_twice_in_one_spelling_is_unknown(make_row, ident):
    found = {}
    answers.collect([make_row(uuid=ident)], found)
    with pytest.raises(errors.UnknownState, match='twice'):
        answers.collect([make_row(uuid=ident)], found)


@pytest.mark.parametrize(
    ('shard', 'number'), [(None, 9), ('rack1', 4), ('rack9', 0)]
)
def test_the_nodes_of_a_shard_or_of_all_shards_are_counted(shard, number):
    shards = [
        {'name': 'rack1', 'count': 4},
        {'name': 'None', 'count': 3},
        {'name': 'rack2', 'count': 2},
    ]
    assert answers.number({'shards': shards}, shard) == number
    assert answers.number({'shards': []}, shard) == 0


@pytest.mark.parametrize(
    'body',
    [
        None,
        [],
        b'broken',
        {},
        {'shards': None},
        {'shards': {}},
        {'shards': [None]},
        {'shards': [{'name': 'rack1'}]},
        {'shards': [{'name': 'rack1', 'count': None}]},
        {'shards': [{'name': 'rack1', 'count': '4'}]},
        {'shards': [{'name': 'rack1', 'count': True}]},
        {'shards': [{'name': 'rack1', 'count': -1}]},
    ],
    ids=str,
)
def test_what_is_no_count_is_unknown(body):
    with pytest.raises(errors.UnknownState, match='no count'):
        answers.number(body, None)


@pytest.mark.parametrize('row', [{}, {'uuid': None}, {'uuid': 7}], ids=str)
def test_a_row_without_a_uuid_is_unknown(row):
    with pytest.raises(errors.UnknownState, match='without uuid'):
        answers.ident_of(row)


def listing(*rows):
    found = {}
    answers.collect(rows, found)
    return answers.listing(found)


def test_two_nodes_of_one_uuid_are_left_out_and_the_others_are_not(make_row):
    row = make_row(uuid=OTHER)
    found = listing(make_row(uuid=UUID), row, make_row(uuid=UUID.upper()))
    assert list(found.nodes) == [OTHER]
    assert found.left_out == (f'{UUID.upper()} and {UUID} are the same uuid',)


def test_a_node_without_a_uuid_is_left_out_and_the_others_are_not(make_row):
    found = listing(make_row(uuid='no-uuid\n', name='n'), make_row(uuid=OTHER))
    assert list(found.nodes) == [OTHER]
    (why,) = found.left_out
    assert why == r"node 'no-uuid\n' (name 'n') has an invalid uuid"


def test_what_is_left_out_is_said_in_one_order(make_row):
    rows = [make_row(uuid=u) for u in ('b', 'a', UUID.upper(), UUID)]
    said = listing(*rows).left_out
    assert len(said) == 3
    assert listing(*reversed(rows)).left_out == said


def test_nodes_are_listed_as_ironic_spells_them(make_row):
    found = listing(make_row(uuid=UUID.upper()))
    assert found.nodes[UUID.upper()].uuid == UUID
    assert found.left_out == ()


@pytest.mark.parametrize(
    'body', [None, [], b'{', 'text', {}, {'uuid': 7}, {'nodes': []}]
)
def test_what_is_no_node_is_unknown(body):
    with pytest.raises(errors.UnknownState, match='no node'):
        answers.single_node(body, 'rack1')


def test_another_node_than_the_one_asked_for_is_unknown():
    with pytest.raises(errors.UnknownState, match=f'{OTHER} for {UUID}'):
        answers.single_node({'uuid': OTHER}, UUID)


@pytest.mark.parametrize('ident', [UUID, UUID.upper(), 'rack1'])
def test_the_node_asked_for_is_taken_however_it_was_called(ident):
    assert answers.single_node({'uuid': UUID}, ident) == {'uuid': UUID}


@pytest.mark.parametrize(
    ('body', 'said'),
    [
        # As Ironic has it: JSON in a string of JSON.
        (
            {'error_message': json.dumps({'faultstring': NOT_FOUND})},
            NOT_FOUND,
        ),
        ({'error_message': {'faultstring': NOT_FOUND}}, NOT_FOUND),
        ({'error_message': 'Node is locked'}, 'Node is locked'),
        ({'error_message': {'faultstring': 'two\n lines'}}, 'two lines'),
        ({'error_message': '\x1b[31mred\x07'}, r'\x1b[31mred\x07'),
        ({'error_message': json.dumps({'description': ''})}, ''),
        ({'error_message': '7'}, ''),
        ({'error_message': None}, ''),
        ({'error': {'message': 'keystone'}}, ''),
        ([], ''),
        (None, ''),
    ],
)
def test_an_error_body_is_read_as_ironic_s_or_not_at_all(body, said):
    assert answers.fault(json.dumps(body).encode()) == said


@pytest.mark.parametrize('content', [b'', b'<html>', b'{"error', b'\xff\xfe'])
def test_garbage_is_no_error_of_ironic_s(content):
    assert answers.fault(content) == ''


@pytest.mark.parametrize(
    ('fault', 'ident', 'is_of'),
    [
        (NOT_FOUND, UUID, True),
        (NOT_FOUND, UUID.upper(), True),
        (NOT_FOUND, OTHER, False),
        (NOT_FOUND, UUID[:8], False),
        ('', UUID, False),
        ('The resource could not be found.', UUID, False),
        ('Node rack1 could not be found.', 'rack1', True),
        ('Node rack11 could not be found.', 'rack1', False),
        (f'Node {UUID} could not be found', UUID, True),
        (f'Shard x could not be found, see node {UUID} .', UUID, False),
        (f'Port of node {UUID} could not be found.', UUID, False),
        (f'Node {UUID} could not be found. Or could it?', UUID, False),
        (f'Node {UUID} is locked by host x', UUID, False),
        ('Node a could not be found.', 'a could not be found.', False),
    ],
)
def test_a_404_is_of_a_node_when_ironic_names_it(fault, ident, is_of):
    assert answers.NotFound('text', fault).is_of(ident) is is_of
