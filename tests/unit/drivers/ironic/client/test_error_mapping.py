# SPDX-License-Identifier: Apache-2.0
"""Whatever goes wrong is one line: what, where, and what to do."""

import json
import logging
import ssl

import pytest
import requests
import requests_mock as mocking
from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1.identity import generic, v3

from compute_agent import errors

URL = 'http://ironic.test:6385'

STATUSES = {
    400: errors.Refused,
    401: errors.Unavailable,
    403: errors.Unavailable,
    405: errors.Refused,
    408: errors.Unavailable,
    409: errors.Refused,
    410: errors.Refused,
    418: errors.Refused,
    429: errors.Unavailable,
    500: errors.UnknownState,
    501: errors.UnknownState,
    502: errors.NoServer,
    503: errors.NoServer,
    504: errors.Unavailable,
    599: errors.UnknownState,
    300: errors.UnknownState,
}
BODIES = {
    'none': {},
    'text': {'text': 'a\nlong ' + 'story ' * 200},
    'html': {
        'text': '<html>\n<b>bad</b>',
        'headers': {'content-type': 'text/html'},
    },
    'ironic': {'json': {'error_message': json.dumps({'faultstring': 'No.'})}},
    'plain': {'json': {'error_message': 'No.'}},
    'keystone': {'json': {'error': {'message': 'No.', 'code': 401}}},
    'bytes': {
        'content': b'\xff\xfe',
        'headers': {'content-type': 'application/json'},
    },
}


@pytest.mark.parametrize('body', BODIES.values(), ids=BODIES)
@pytest.mark.parametrize('status', STATUSES)
def test_a_status_says_what_to_do_next(play, make_connection, status, body):
    play('/v1/nodes', {'status_code': status, **body})
    with pytest.raises(STATUSES[status], match=f'Ironic at {URL}') as raised:
        make_connection().request('GET', '/v1/nodes?fields=uuid')
    line = str(raised.value)
    assert 'GET /v1/nodes: ' in line
    assert f'HTTP {status}' in line
    assert '\n' not in line
    assert len(line) < 600


@pytest.mark.parametrize('body', [None, 7, {'error_message': {'a': 1}}])
@pytest.mark.parametrize('status', [404, 409, 503])
def test_an_error_body_that_the_client_trips_over_is_unknown(
    play, make_connection, status, body
):
    headers = {'content-type': 'application/json'}
    text = json.dumps(body)
    play(
        '/v1/nodes', {'status_code': status, 'text': text, 'headers': headers}
    )
    with pytest.raises(errors.UnknownState, match='another service has that'):
        make_connection().request('GET', '/v1/nodes')


def test_ironic_s_words_and_request_id_are_in_the_line(play, make_connection):
    play(
        '/v1/nodes',
        {
            'status_code': 400,
            'json': {'error_message': json.dumps({'faultstring': 'Not so.'})},
            'headers': {
                'content-type': 'application/json',
                'x-openstack-request-id': 'req-1',
            },
        },
    )
    with pytest.raises(errors.Refused, match=r'Not so\. \(HTTP 400, req-1\)$'):
        make_connection().request('GET', '/v1/nodes')


@pytest.mark.parametrize('status', [400, 404, 409, 500, 503])
def test_last_words_cannot_move_the_cursor(play, make_connection, status):
    odd = 'gone\x1b[2J\n\x07 locked'
    play(
        '/v1/nodes',
        {
            'status_code': status,
            'json': {'error_message': json.dumps({'faultstring': odd})},
            'headers': {
                'content-type': 'application/json',
                'x-openstack-request-id': 'req\x1b[2J',
            },
        },
    )
    with pytest.raises(errors.AgentError) as raised:
        make_connection().request('GET', '/v1/nodes')
    assert str(raised.value).isprintable()
    assert r'gone\x1b[2J \x07 locked' in str(raised.value)


@pytest.mark.parametrize('status', [401, 403])
def test_who_is_not_let_in_is_told_which_options(
    play, make_connection, status
):
    play('/v1/nodes', {'status_code': status})
    with pytest.raises(errors.Unavailable, match=r'user in \[ironic\]'):
        make_connection().request('GET', '/v1/nodes')


EXCEPTIONS = {
    'refused': (
        requests.exceptions.ConnectionError(
            OSError(111, 'Connection refused')
        ),
        r'cannot be reached \(Connection refused\): is it up',
    ),
    'no such host': (
        requests.exceptions.ConnectionError(
            'Failed to resolve: [Errno -2] Name or service not known'
        ),
        r'cannot be reached \(Name or service not known\)',
    ),
    'slow to connect': (
        requests.exceptions.ConnectTimeout('2 s'),
        r'cannot be reached \(no answer in time\)',
    ),
    'slow to answer': (
        requests.exceptions.ReadTimeout('2 s'),
        r'cannot be reached \(no answer in time\)',
    ),
    'cut off': (
        requests.exceptions.ChunkedEncodingError('broken'),
        'cannot be reached',
    ),
    'certificate': (
        requests.exceptions.SSLError(
            ssl.SSLCertVerificationError('self-signed certificate')
        ),
        r'is refused \(.*self-signed certificate.*\): set \[ironic\] cafile',
    ),
    'no CA file': (
        OSError('Could not find a suitable TLS CA certificate bundle'),
        r'cannot be reached \(OSError: Could not find .*\): check the options',
    ),
    'no token': (
        ksa_exceptions.Unauthorized('The password is wrong'),
        r'no token for .*The password is wrong.*: check auth_type',
    ),
    'no way to a token': (
        ksa_exceptions.AuthorizationFailure('no'),
        'no token for',
    ),
    'no plugin': (ksa_exceptions.MissingAuthPlugin(), 'no token for'),
    'no such endpoint': (
        ksa_exceptions.EndpointNotFound(),
        'no endpoint for Ironic in the catalog: check region_name',
    ),
    'an empty catalog': (
        ksa_exceptions.EmptyCatalog(),
        'no endpoint for Ironic in the catalog',
    ),
    'discovery': (ksa_exceptions.DiscoveryFailure('no'), 'cannot be reached'),
    'anything else': (
        ValueError('what\nis this'),
        r'ValueError: what is this',
    ),
}


@pytest.mark.parametrize(('exc', 'line'), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_what_got_no_answer_is_an_outage(play, make_connection, exc, line):
    play('/v1/nodes', {'exc': exc})
    with pytest.raises(errors.Unavailable, match=line) as raised:
        make_connection().request('GET', '/v1/nodes')
    assert '\n' not in str(raised.value)


@pytest.mark.parametrize(
    'exc', [KeyError('a'), TypeError(), AttributeError(), RecursionError()]
)
def test_what_the_client_trips_over_is_unknown(play, make_connection, exc):
    play('/v1/nodes', {'exc': exc})
    with pytest.raises(errors.UnknownState, match='another service has that'):
        make_connection().request('GET', '/v1/nodes')


TOKENS = 'http://keystone.test/v3/auth/tokens'
TOKEN = {'X-Subject-Token': 'scoped'}


NOT_KEYSTONES = "keystone gave an answer that is not keystone's"
ODD = ['x', {'versions': None}, {'versions': 'abc'}, {'versions': [None]}]


@pytest.fixture
def account(requests_mock):
    """The account of a keystone that is asked for tokens only."""
    requests_mock.get('http://keystone.test/v3', status_code=404)
    return v3.Password(
        'http://keystone.test/v3', username='agent', password='s3cret'
    )


@pytest.mark.parametrize('url', [URL, None], ids=['set', 'in the catalog'])
@pytest.mark.parametrize(
    'body',
    [
        {'text': '<html>hi</html>', 'headers': TOKEN},
        {'json': [], 'headers': TOKEN},
        {'json': {'token': None}, 'headers': TOKEN},
    ],
    ids=['html', 'a list', 'null'],
)
def test_an_answer_that_is_no_token_is_laid_to_keystone(
    requests_mock, account, make_connection, body, url
):
    requests_mock.post(TOKENS, status_code=201, **body)
    where = f'Ironic at {URL}' if url else 'Ironic'
    with pytest.raises(errors.Unavailable) as raised:
        make_connection(url=url, auth=account).request('GET', '/v1/nodes')
    assert str(raised.value) == (
        f'no token for {where}: keystone gave an answer that is not '
        "keystone's: check auth_url in [ironic], and the proxies in front of "
        'keystone'
    )


@pytest.mark.parametrize('body', ODD, ids=str)
def test_an_odd_list_of_versions_is_laid_to_keystone(
    requests_mock, make_connection, body
):
    requests_mock.get('http://keystone.test/v3', json=body)
    account = generic.Password(
        'http://keystone.test/v3', username='agent', password='s3cret'
    )
    with pytest.raises(errors.Unavailable, match=NOT_KEYSTONES):
        make_connection(auth=account).request('GET', '/v1/nodes')


def want_second_factor(requests_mock, body):
    """Have keystone ask for a second factor, with this body."""
    requests_mock.post(
        TOKENS,
        status_code=401,
        headers={'Openstack-Auth-Receipt': 'r'},
        json=body,
    )


def test_a_second_factor_in_odd_words_is_laid_to_keystone(
    requests_mock, account, make_connection
):
    want_second_factor(requests_mock, {})
    with pytest.raises(errors.Unavailable, match=NOT_KEYSTONES):
        make_connection(auth=account).request('GET', '/v1/nodes')


@pytest.mark.parametrize(
    'exc',
    [
        OSError('Could not find a suitable TLS CA certificate bundle'),
        ValueError('no such host'),
    ],
)
def test_a_token_that_could_not_be_asked_for_is_no_odd_answer(
    requests_mock, account, make_connection, exc
):
    requests_mock.post(TOKENS, exc=exc)
    with pytest.raises(errors.Unavailable, match='check the options in'):
        make_connection(auth=account).request('GET', '/v1/nodes')


def test_an_account_with_a_second_factor_is_told_what_to_use(
    requests_mock, account, make_connection
):
    want_second_factor(
        requests_mock,
        {
            'receipt': {
                'methods': ['password'],
                'expires_at': '2036-01-01T00:00:00Z',
            },
            'required_auth_methods': [['password', 'totp']],
        },
    )
    with pytest.raises(
        errors.Unavailable,
        match='keystone asks for a second factor; the account comes from '
        r'\[ironic\]: use an account that needs none, or an application',
    ):
        make_connection(auth=account).request('GET', '/v1/nodes')


def test_no_redirect_is_followed(play, make_connection, sent):
    play(
        '/v1/nodes',
        {'status_code': 302, 'headers': {'location': f'{URL}/v1/nodes'}},
    )
    with pytest.raises(errors.Unavailable, match='no redirect is followed'):
        make_connection().request('GET', '/v1/nodes')
    assert len(sent()) == 1


def test_the_client_s_own_error_lines_are_not_logged(
    play, make_connection, caplog
):
    caplog.set_level(logging.DEBUG)
    play('/v1/nodes', {'status_code': 503})
    with pytest.raises(errors.Unavailable):
        make_connection(max_retries=1).request('GET', '/v1/nodes')
    assert 'Attempt 1 of 2' in caplog.text
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    'exc', [requests.exceptions.ConnectionError, ValueError]
)
def test_a_password_in_the_address_is_not_said(
    requests_mock, make_connection, exc
):
    url = 'http://me:secret@ironic.test'
    requests_mock.register_uri(
        mocking.ANY, mocking.ANY, exc=exc(f'bad {url}/')
    )
    reached = make_connection(url=url)
    for _ in range(2):
        with pytest.raises(errors.Unavailable) as raised:
            reached.request('GET', '/v1/nodes')
        assert 'secret' not in str(raised.value)
        assert 'Ironic at http://ironic.test ' in str(raised.value)
