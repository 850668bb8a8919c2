# SPDX-License-Identifier: Apache-2.0
"""A listing is whole, or there is none."""

import json

import pytest

from compute_agent import errors

URL = 'http://ironic.test:6385'
LIST = (
    '/v1/nodes?fields=uuid,name,resource_class,traits,power_state,'
    'provision_state,maintenance,instance_uuid&limit=1000'
)
# An address that only Ironic's own proxy can reach.
NEXT = 'http://10.255.0.1:1/v1/nodes?marker=not-this-one'


def page(rows, *, more=False):
    return {'json': {'nodes': rows, **({'next': NEXT} if more else {})}}


@pytest.fixture
def pages(play):
    """Let Ironic answer the listing's pages, one after the other."""

    def pages(*responses):
        play('/v1/nodes', *responses)

    return pages


@pytest.fixture
def rows(make_row):
    return [make_row(i) for i in range(1, 6)]


def test_one_page_is_one_request(pages, make_api, rows, sent):
    pages(page(rows))
    assert list(make_api().nodes().nodes) == [r['uuid'] for r in rows]
    assert sent() == [f'GET {LIST}']


def test_the_next_cycle_is_one_request_again(pages, make_api, rows, sent):
    pages(page(rows))
    api = make_api()
    api.nodes()
    api.nodes()
    assert sent() == [f'GET {LIST}'] * 2


def test_an_ironic_without_nodes_has_none(pages, make_api):
    pages(page([]))
    assert make_api().nodes().nodes == {}


def test_pages_follow_by_the_last_uuid(pages, make_api, rows, sent):
    pages(
        page(rows[:2], more=True), page(rows[2:4], more=True), page(rows[4:])
    )
    assert len(make_api().nodes().nodes) == 5
    assert sent() == [
        f'GET {LIST}',
        f'GET {LIST}&marker={rows[1]["uuid"]}',
        f'GET {LIST}&marker={rows[3]["uuid"]}',
    ]


def test_a_page_that_is_just_full_is_followed_by_an_empty_one(
    pages, make_api, rows
):
    pages(page(rows, more=True), page([]))
    assert len(make_api().nodes().nodes) == 5


def test_the_marker_keeps_ironic_s_spelling(pages, make_api, make_row, sent):
    odd = 'AAAAAAAA-0000-4000-8000-00000000000A'
    pages(page([make_row(uuid=odd)], more=True), page([]))
    assert list(make_api().nodes().nodes) == [odd]
    assert sent()[1].endswith(f'marker={odd}')


def test_two_nodes_of_one_uuid_may_stand_on_two_pages(pages, make_api, rows):
    twin = {**rows[0], 'uuid': f'{{{rows[0]["uuid"]}}}'}
    pages(page(rows, more=True), page([twin]))
    found = make_api().nodes()
    assert list(found.nodes) == [r['uuid'] for r in rows[1:]]
    assert len(found.left_out) == 1


@pytest.mark.parametrize(
    ('options', 'query'),
    [
        ({}, ''),
        ({'conductor_group': ''}, '&conductor_group='),
        ({'conductor_group': 'hall-1'}, '&conductor_group=hall-1'),
        ({'conductor_group': 'Hall-1'}, '&conductor_group=hall-1'),
        (
            {'conductor_group': 'a&b=c d/é'},
            '&conductor_group=a%26b%3Dc%20d%2F%C3%A9',
        ),
        ({'shard': 'rack.7'}, '&shard=rack.7'),
        ({'shard': 'Rack.7'}, '&shard=Rack.7'),
        (
            {'conductor_group': 'g', 'shard': 's'},
            '&conductor_group=g&shard=s',
        ),
    ],
)
def test_filters_are_on_every_page(
    pages, make_api, rows, sent, options, query
):
    pages(page(rows[:1], more=True), page(rows[1:]))
    make_api(**options).nodes()
    first, second = sent()
    assert first == f'GET {LIST}{query}'
    assert second == f'GET {LIST}{query}&marker={rows[0]["uuid"]}'


HALF = json.dumps({'nodes': [{'uuid': 'x', 'name': 'y'}]})[:20]
JSON = {'content-type': 'application/json'}
BAD_PAGES = {
    'nothing': {'json': {}},
    'null': {'json': None},
    'a list': {'json': []},
    'half a page': {'text': HALF, 'headers': JSON},
    'no body': {'text': '', 'headers': JSON},
    'html': {
        'text': '<html>please log in</html>',
        'headers': {'content-type': 'text/html'},
    },
    'no content type': {'text': '{"nodes": []}'},
    'no content': {'status_code': 204},
    'no node': {'json': {'nodes': [None]}},
    'half a node': {
        'json': {'nodes': [{'uuid': '00000009-0000-4000-8000-000000000000'}]}
    },
    'an empty page with more': {'json': {'nodes': [], 'next': NEXT}},
    'a server error': {'status_code': 500},
    'a server error of ironic': {
        'status_code': 500,
        'json': {'error_message': '{"faultstring": "no attribute"}'},
    },
    'an odd server error': {'status_code': 500, 'json': ['no']},
}


@pytest.mark.parametrize('bad', BAD_PAGES.values(), ids=BAD_PAGES)
def test_a_bad_first_page_is_unknown(pages, make_api, bad):
    pages(bad)
    with pytest.raises(errors.UnknownState, match=f'Ironic at {URL}') as said:
        make_api().nodes()
    assert '\n' not in str(said.value)


@pytest.mark.parametrize('bad', BAD_PAGES.values(), ids=BAD_PAGES)
def test_a_bad_second_page_is_no_shorter_list(pages, make_api, rows, bad):
    pages(page(rows, more=True), bad)
    with pytest.raises(errors.UnknownState, match=f'Ironic at {URL}'):
        make_api().nodes()


def test_the_same_page_for_ever_ends(pages, make_api, rows, sent):
    pages(page(rows, more=True))
    with pytest.raises(errors.UnknownState, match='node-1 .* twice'):
        make_api().nodes()
    assert len(sent()) == 2


def test_a_node_that_comes_twice_in_a_page_is_unknown(pages, make_api, rows):
    pages(page([*rows, rows[0]]))
    with pytest.raises(errors.UnknownState, match='twice'):
        make_api().nodes()


def test_a_page_s_last_node_deleted_meanwhile_is_unknown(
    pages, make_api, rows
):
    fault = f'Node {rows[4]["uuid"]} could not be found.'
    body = {'error_message': json.dumps({'faultstring': fault})}
    pages(page(rows, more=True), {'status_code': 404, 'json': body})
    with pytest.raises(errors.UnknownState, match='deleted while'):
        make_api().nodes()


@pytest.mark.parametrize(
    'answer',
    [
        {'status_code': 404, 'text': 'nothing here'},
        {
            'status_code': 404,
            'json': {'error_message': '{"code": 404, "description": ""}'},
        },
    ],
)
def test_an_address_without_a_listing_is_no_ironic(pages, make_api, answer):
    pages(answer)
    with pytest.raises(errors.Unavailable, match='is there an Ironic at'):
        make_api().nodes()
