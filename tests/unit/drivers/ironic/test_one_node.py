# SPDX-License-Identifier: Apache-2.0
"""One node: whether it exists, its fields, a patch of it."""

import json
import logging

import pytest
import requests

from compute_agent import errors
from compute_agent.virt.driver import Existence

URL = 'http://ironic.test:6385'
UUID = '3f2c9a54-6f0e-4c0b-9a1d-8b7a5c0d1e2f'
PATCH = [{'op': 'add', 'path': '/instance_info/traits', 'value': ['CUSTOM_A']}]


def not_found(ident):
    fault = f'Node {ident} could not be found.'
    text = json.dumps({'faultcode': 'Client', 'faultstring': fault})
    return {'status_code': 404, 'json': {'error_message': text}}


@pytest.fixture
def node_is(play):
    """Let Ironic answer for one node."""

    def node_is(ident, *responses, method='GET'):
        play(f'/v1/nodes/{ident}', *responses, method=method)

    return node_is


def test_a_node_that_is_there_exists(node_is, make_api, sent):
    node_is(UUID, {'json': {'uuid': UUID, 'links': []}})
    assert make_api().exists(UUID) is Existence.YES
    assert sent() == [f'GET /v1/nodes/{UUID}?fields=uuid']


@pytest.mark.parametrize(
    'ident', [UUID, UUID.upper(), UUID.replace('-', ''), f'urn:uuid:{UUID}']
)
def test_a_node_that_ironic_says_is_not_there_does_not_exist(
    node_is, make_api, sent, ident
):
    path = ident.replace(':', '%3A')
    node_is(path, not_found(ident))
    assert make_api().exists(ident) is Existence.NO
    assert sent() == [f'GET /v1/nodes/{path}?fields=uuid']


def test_a_node_that_a_database_finds_in_another_spelling_exists(
    node_is, make_api
):
    node_is(UUID.upper(), {'json': {'uuid': UUID}})
    assert make_api().exists(UUID.upper()) is Existence.YES


@pytest.mark.parametrize('ident', ['', '..', 'rack1', UUID[:-1], f'{UUID}\n'])
def test_what_is_no_uuid_is_not_asked_for(make_api, sent, ident):
    assert make_api().exists(ident) is Existence.UNKNOWN
    assert sent() == []


UNCLEAR = {
    'another node': {'json': {'uuid': UUID.replace('3', '4')}},
    'no node': {'json': {}},
    'html': {'text': '<html>', 'headers': {'content-type': 'text/html'}},
    'half': {
        'text': '{"uu',
        'headers': {'content-type': 'application/json'},
    },
    'nothing': {'status_code': 204},
    'a bare 404': {'status_code': 404},
    "a proxy's 404": {'status_code': 404, 'text': f'{UUID} not found'},
    "another's 404": {
        'status_code': 404,
        'json': {'error': {'message': f'Node {UUID} could not be found.'}},
    },
    'a 404 for the whole API': {
        'status_code': 404,
        'json': {'error_message': '{"code": 404, "title": "Not Found"}'},
    },
    'a 404 for another node': not_found(UUID.replace('3', '4')),
    'a 404 for something of the node': not_found(f'{UUID} of port 7'),
    'unauthorised': {'status_code': 401},
    'forbidden': {'status_code': 403},
    'gone': {'status_code': 410},
    'a server error': {'status_code': 500},
    'away': {'status_code': 503},
    'refused': {'exc': requests.exceptions.ConnectionError},
    'slow': {'exc': requests.exceptions.ReadTimeout},
    'cut off': {'exc': requests.exceptions.ChunkedEncodingError},
}


@pytest.mark.parametrize('answer', UNCLEAR.values(), ids=UNCLEAR)
def test_anything_else_is_said_and_means_nothing(
    node_is, make_api, caplog, answer
):
    caplog.set_level(logging.INFO)
    node_is(UUID, answer)
    with pytest.raises(errors.AgentError, match=f'Ironic at {URL}') as raised:
        make_api().exists(UUID)
    assert str(raised.value).isprintable()
    assert caplog.records == []


@pytest.mark.parametrize('name', ['away', 'refused', 'slow', 'a bare 404'])
def test_an_outage_is_told_from_what_is_one_node_s(node_is, make_api, name):
    node_is(UUID, UNCLEAR[name])
    with pytest.raises(errors.Unavailable):
        make_api().exists(UUID)


@pytest.mark.parametrize(
    ('ident', 'quoted'),
    [
        (UUID, UUID),
        ('rack1-node01', 'rack1-node01'),
        ('a/b?c#d', 'a%2Fb%3Fc%23d'),
        ('süd 1', 's%C3%BCd%201'),
    ],
)
def test_fields_of_a_node_are_read_by_uuid_or_name(
    node_is, make_api, sent, ident, quoted
):
    row = {'uuid': UUID, 'instance_info': {}}
    node_is(quoted, {'json': row})
    assert make_api().node(ident, ('uuid', 'instance_info')) == row
    assert sent() == [f'GET /v1/nodes/{quoted}?fields=uuid,instance_info']


def test_the_uuid_is_always_asked_for(node_is, make_api, sent):
    node_is('rack1', {'json': {'uuid': UUID, 'traits': []}})
    make_api().node('rack1', ('traits',))
    assert sent() == ['GET /v1/nodes/rack1?fields=uuid,traits']


def test_a_node_that_ironic_does_not_have_is_none(node_is, make_api):
    node_is('rack1', not_found('rack1'))
    assert make_api().node('rack1', ('uuid',)) is None


@pytest.mark.parametrize('ident', ['', '.', '..', 'n\n', '\udcff', 'a\0b'])
def test_what_is_no_name_names_no_node(make_api, sent, ident):
    assert make_api().node(ident, ('uuid',)) is None
    assert sent() == []


def test_a_404_that_is_not_of_the_node_is_no_ironic(node_is, make_api):
    node_is('rack1', {'status_code': 404})
    with pytest.raises(errors.Unavailable, match='is there an Ironic at'):
        make_api().node('rack1', ('uuid',))


def test_a_name_that_ironic_refuses_is_said(node_is, make_api):
    fault = 'Expected a logical name or UUID, but received a b.'
    body = {'error_message': json.dumps({'faultstring': fault})}
    node_is('a%20b', {'status_code': 400, 'json': body})
    with pytest.raises(errors.Refused, match=r'received a b\. \(HTTP 400\)'):
        make_api().node('a b', ('uuid',))


def test_a_whole_node_is_read_as_ironic_spells_it(node_is, make_api, make_row):
    node_is(UUID.upper(), {'json': make_row(uuid=UUID.upper())})
    found = make_api().read(UUID.upper())
    assert (found.uuid, found.ident) == (UUID, UUID.upper())


def test_a_node_that_is_nowhere_is_not_read(node_is, make_api, sent):
    node_is(UUID, not_found(UUID))
    assert make_api().read(UUID) is None
    assert len(sent()) == 1


def test_half_a_node_is_unknown(node_is, make_api, make_row):
    row = make_row(uuid=UUID)
    del row['traits']
    node_is(UUID, {'json': row})
    with pytest.raises(errors.UnknownState, match=f'{URL} .*without traits'):
        make_api().read(UUID)


def test_a_patch_is_one_request(requests_mock, node_is, make_api, sent):
    node_is(UUID, {'json': {'uuid': UUID}}, method='PATCH')
    assert make_api().patch(UUID, PATCH) is None
    assert sent() == [f'PATCH /v1/nodes/{UUID}']
    assert requests_mock.last_request.json() == PATCH


def locked():
    fault = (
        f'Node {UUID} is locked by host conductor-1, please retry after the '
        'current operation is completed.'
    )
    text = json.dumps({'faultcode': 'Client', 'faultstring': fault})
    return {'status_code': 409, 'json': {'error_message': text}}


def test_a_locked_node_is_asked_again(node_is, make_api, sent):
    node_is(UUID, locked(), locked(), {'json': {'uuid': UUID}}, method='PATCH')
    make_api(max_retries=2).patch(UUID, PATCH)
    assert len(sent()) == 3


def test_a_node_that_stays_locked_is_refused_with_who_has_it(
    node_is, make_api, sent, caplog
):
    node_is(UUID, locked(), method='PATCH')
    with pytest.raises(
        errors.Refused,
        match=r'locked by host conductor-1, .*\(HTTP 409\); try again',
    ):
        make_api(max_retries=2).patch(UUID, PATCH)
    assert len(sent()) == 3
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


def test_a_conflict_of_another_kind_is_not_worth_a_try(node_is, make_api):
    text = json.dumps({'faultstring': 'Instance is on another node.'})
    body = {'error_message': text}
    node_is(UUID, {'status_code': 409, 'json': body}, method='PATCH')
    with pytest.raises(errors.Refused, match=r'\(HTTP 409\)$'):
        make_api().patch(UUID, PATCH)


def test_a_patch_of_a_node_that_is_gone_is_refused(node_is, make_api):
    node_is(UUID, not_found(UUID), method='PATCH')
    with pytest.raises(errors.Refused, match=f'Node {UUID} could not be'):
        make_api().patch(UUID, PATCH)


def test_a_patch_that_found_no_ironic_is_not_refused(node_is, make_api):
    node_is(UUID, {'status_code': 404}, method='PATCH')
    with pytest.raises(errors.Unavailable, match='is there an Ironic at'):
        make_api().patch(UUID, PATCH)


def test_a_patch_whose_answer_makes_no_sense_is_unknown(node_is, make_api):
    node_is(UUID, {'text': 'ok'}, method='PATCH')
    with pytest.raises(errors.UnknownState, match='no node'):
        make_api().patch(UUID, PATCH)
