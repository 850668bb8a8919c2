# SPDX-License-Identifier: Apache-2.0
"""A connection finds Ironic once, asks again within bounds, and is shared.

White-box: the session is built in a private method, which one test makes slow
so that threads meet in it.
"""

import base64
import concurrent.futures

import pytest
import requests
import threads
from keystoneauth1 import adapter, http_basic, session
from keystoneauth1.identity import v3

from compute_agent import errors
from drivers.ironic.client import connection
from drivers.ironic.nodes import answers

URL = 'http://ironic.test:6385'
KEYSTONE = 'http://keystone.test/v3'
NOTHING = {'json': {'nodes': []}}


def ask(reached):
    return reached.request('GET', '/v1/nodes')


@pytest.mark.parametrize(
    'url', [URL, f'{URL}/', f'{URL}/v1', f'{URL}/v1/', f'{URL}//v1//']
)
def test_the_version_may_be_part_of_the_address(
    play, make_connection, sent, url
):
    play('/v1/nodes', NOTHING)
    ask(make_connection(url=url))
    assert sent() == ['GET /v1/nodes']


def test_ironic_may_live_below_a_path(requests_mock, make_connection):
    found = requests_mock.get(
        'http://cloud.test/baremetal/v1/nodes',
        json={},
        headers={'content-type': 'application/json'},
    )
    ask(make_connection(url='http://cloud.test/baremetal/v1'))
    assert found.call_count == 1


@pytest.mark.parametrize(
    'trouble',
    [
        {'status_code': 503},
        {'status_code': 409},
        {'exc': requests.exceptions.ConnectionError},
        {'exc': requests.exceptions.ReadTimeout},
    ],
)
def test_a_request_is_repeated_within_bounds(
    play, make_connection, sent, trouble
):
    play('/v1/nodes', trouble, trouble, NOTHING)
    assert ask(make_connection(max_retries=2)) == {'nodes': []}
    assert len(sent()) == 3


@pytest.mark.parametrize(
    'trouble',
    [
        {'status_code': 503},
        {'exc': requests.exceptions.ConnectionError},
        {'exc': requests.exceptions.ReadTimeout},
    ],
)
def test_an_outage_ends_with_the_last_try(
    play, make_connection, sent, trouble
):
    play('/v1/nodes', trouble)
    with pytest.raises(errors.Unavailable):
        ask(make_connection(max_retries=2))
    assert len(sent()) == 3


def test_what_is_answered_is_not_asked_again(play, make_connection, sent):
    play('/v1/nodes', {'status_code': 500})
    with pytest.raises(errors.UnknownState):
        ask(make_connection(max_retries=2))
    assert len(sent()) == 1


def test_keystoneauth_s_own_retries_are_kept(play, make_connection, sent):
    play('/v1/nodes', {'status_code': 502}, NOTHING)
    reached = make_connection(
        status_code_retries=1,
        status_code_retry_delay=0.0,
        retriable_status_codes=[502],
    )
    assert ask(reached) == {'nodes': []}
    assert len(sent()) == 2


def test_http_basic_sends_its_password(play, make_connection, requests_mock):
    play('/v1/nodes', NOTHING)
    basic = http_basic.HTTPBasicAuth(
        endpoint=URL, username='me', password='secret'
    )
    ask(make_connection(auth=basic))
    word = base64.b64encode(b'me:secret').decode()
    sent = requests_mock.last_request.headers
    assert sent['Authorization'] == f'Basic {word}'
    assert 'X-Auth-Token' not in sent


@pytest.fixture
def keystone(requests_mock):
    """A keystone whose catalog has Ironic; its requests are recorded."""

    def keystone(*endpoints):
        service = {
            'type': 'baremetal',
            'name': 'ironic',
            'endpoints': [
                {'interface': interface, 'url': url, 'region_id': 'one'}
                for interface, url in endpoints
            ],
        }
        token = {
            'expires_at': '2999-01-01T00:00:00.000000Z',
            'methods': ['password'],
            'user': {'id': 'me', 'name': 'me'},
            'catalog': [service],
        }
        return requests_mock.post(
            f'{KEYSTONE}/auth/tokens',
            json={'token': token},
            headers={'X-Subject-Token': 'a-token'},
        )

    return keystone


@pytest.fixture
def from_catalog():
    """A connection that only knows a keystone."""
    auth = v3.Password(
        KEYSTONE,
        username='me',
        password='secret',
        user_domain_id='default',
        project_name='service',
        project_domain_id='default',
    )
    return connection.Connection(
        adapter.Adapter(
            session.Session(auth=auth),
            service_type='baremetal',
            interface=['internal', 'public'],
            region_name='one',
        ),
        url=None,
        needed=answers.needed(None, None),
        max_retries=0,
        retry_interval=0,
    )


def test_the_catalog_is_asked_once(play, sent, keystone, from_catalog):
    tokens = keystone(
        ('public', 'http://else.test'), ('internal', f'{URL}/v1')
    )
    play('/v1/nodes', NOTHING)
    assert from_catalog.where == 'Ironic'
    ask(from_catalog)
    ask(from_catalog)
    assert tokens.call_count == 1
    assert sent()[1:] == ['GET /v1/nodes'] * 2
    assert from_catalog.where == f'Ironic at {URL}/v1'


def test_the_token_is_sent(play, requests_mock, keystone, from_catalog):
    keystone(('public', URL))
    play('/v1/nodes', NOTHING)
    ask(from_catalog)
    assert requests_mock.last_request.headers['X-Auth-Token'] == 'a-token'


def test_a_catalog_without_ironic_says_what_to_check(keystone, from_catalog):
    keystone()
    with pytest.raises(errors.Unavailable, match='no endpoint for Ironic'):
        ask(from_catalog)


def test_an_address_that_nobody_has_is_said(make_connection):
    nowhere = make_connection(url=None)
    with pytest.raises(
        errors.Unavailable, match=r'set \[ironic\] endpoint_override'
    ):
        ask(nowhere)


def test_a_keystone_that_refuses_the_password_is_said(
    requests_mock, from_catalog
):
    requests_mock.post(f'{KEYSTONE}/auth/tokens', status_code=401)
    with pytest.raises(errors.Unavailable, match='no token for Ironic: '):
        ask(from_catalog)


def test_a_keystone_that_is_away_is_said_with_its_address(
    requests_mock, from_catalog
):
    requests_mock.post(
        f'{KEYSTONE}/auth/tokens', exc=requests.exceptions.ConnectionError
    )
    with pytest.raises(errors.Unavailable, match='at http://keystone.test'):
        ask(from_catalog)


def test_an_ironic_that_moves_is_found_again_after_an_outage(
    requests_mock, play, keystone, from_catalog
):
    keystone(('public', 'http://old.test'))
    requests_mock.get('http://old.test/v1/nodes', status_code=503)
    with pytest.raises(errors.Unavailable):
        ask(from_catalog)
    from_catalog._endpoint.session.invalidate()
    keystone(('public', URL))
    play('/v1/nodes', NOTHING)
    assert ask(from_catalog) == {'nodes': []}


def test_threads_share_one_client(play, make_connection, monkeypatch):
    play('/v1/nodes', NOTHING)
    waiting = threads.Waiting()
    with waiting.watching():
        reached = make_connection()
    built = []
    build = connection.Connection._build

    def slow(self):
        built.append(self)
        waiting.wait_for(7)
        return build(self)

    monkeypatch.setattr(connection.Connection, '_build', slow)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        bodies = list(pool.map(ask, [reached] * 8))
    assert bodies == [{'nodes': []}] * 8
    assert len(built) == 1


def test_nothing_is_sent_before_the_first_request(make_connection, sent):
    make_connection()
    assert sent() == []
