# SPDX-License-Identifier: Apache-2.0
"""An error answer becomes the exception that says what to do next."""

import json

import pytest

from report_client import errors
from report_client.http.messages import codec, error_mapping

UUID = '11111111-1111-4111-8111-111111111111'
ONE = f'/resource_providers/{UUID}'
ACCESS = error_mapping.Access(where='this placement')
RACE = 'Another thread concurrently updated the data.'


def refused(method, path, status, **said):
    request = codec.Request(method=method, path=path)
    said = {'status': status, **said}
    return error_mapping.error_for(request, status, said, ACCESS)


@pytest.mark.parametrize(
    ('request_line', 'status', 'said', 'kind'),
    [
        ('GET /traits', 401, {}, errors.NotAuthorised),
        ('GET /traits', 403, {}, errors.NotAuthorised),
        ('POST /reshaper', 403, {}, errors.NotAllowed),
        ('GET /traits', 429, {}, errors.Unreachable),
        ('GET /traits', 502, {}, errors.NoServer),
        ('GET /traits', 503, {}, errors.NoServer),
        ('GET /traits', 504, {}, errors.Unreachable),
        ('GET /traits', 500, {}, errors.ServerFault),
        ('GET /traits', 501, {'detail': 'no'}, errors.ServerFault),
        (f'PUT {ONE}/traits', 500, {'detail': RACE}, errors.Conflict),
        (
            f'PUT {ONE}/traits',
            409,
            {'code': 'placement.concurrent_update'},
            errors.Conflict,
        ),
        (
            f'PUT {ONE}',
            409,
            {'code': 'placement.duplicate_name'},
            errors.NameTaken,
        ),
        (
            f'DELETE {ONE}',
            409,
            {'code': 'placement.resource_provider.inuse'},
            errors.InUse,
        ),
        ('DELETE /traits/CUSTOM_A', 409, {}, errors.InUse),
        (
            f'PUT {ONE}/traits',
            400,
            {'detail': 'No such trait CUSTOM_A'},
            errors.UnknownName,
        ),
        (f'PUT {ONE}/traits', 400, {'detail': 'no'}, errors.BadRequest),
        (f'GET {ONE}/traits', 404, {}, errors.NotFound),
        (f'GET /allocations/{UUID}', 404, {}, errors.NotFound),
        ('GET /traits/CUSTOM_A', 404, {}, errors.NotFound),
        ('PUT /traits/CUSTOM_A', 404, {}, errors.BadRequest),
        ('GET /usages', 404, {}, errors.BadRequest),
        (f'PUT {ONE}', 409, {}, errors.BadRequest),
        (f'PUT {ONE}', 302, {}, errors.BadRequest),
    ],
)
def test_it_is_by_status_code_and_what_was_asked(
    request_line, status, said, kind
):
    found = refused(*request_line.split(), status, **said)
    assert type(found) is kind
    detail = said.get('detail') or said.get('title')
    end = f': {detail}' if detail else ''
    assert str(found).startswith(f'{request_line}: HTTP {status}{end}')


def test_what_placement_said_is_in_one_line():
    sent = 'req-0f1c2d3e-1111-4222-8333-444455556666'
    said = {'title': 'Bad', 'detail': 'no\n such', 'request_id': sent}
    found = refused('PUT', ONE, 400, **said)
    assert str(found) == f'PUT {ONE}: HTTP 400: no such [{sent}]'
    titled = refused('PUT', ONE, 400, title='Bad')
    assert str(titled) == f'PUT {ONE}: HTTP 400: Bad'


def test_whoever_is_not_let_in_is_told_which_role_is_needed():
    found = str(refused('GET', '/traits', 403))
    assert '; this placement refuses the user of this agent: ' in found
    assert '[placement] needs a user with the role admin or service' in found
    found = str(refused('POST', '/reshaper', 403))
    assert 'also needs the role service' in found


@pytest.mark.parametrize(
    ('path', 'status', 'said', 'elsewhere'),
    [
        ('/resource_providers?name=cn1', 404, {'status': 404}, True),
        ('/traits', 405, {'status': 405}, True),
        ('/resource_classes', 404, {}, True),
        (ONE, 404, {'detail': '<h1>Not Found</h1>'}, True),
        (ONE, 404, {'status': 404}, False),
        (ONE, 405, {'status': 405}, False),
        ('/traits', 500, {}, False),
        ('/traits', 503, {'status': 503}, False),
    ],
)
def test_what_every_placement_has_is_missing_elsewhere_alone(
    path, status, said, elsewhere
):
    request = codec.Request(method='GET', path=path)
    assert error_mapping.is_not_placement(request, status, said) is elsewhere


@pytest.mark.parametrize(
    ('content', 'told'),
    [
        (
            (
                b'{"message": "The server is away.<br /><br />\\nKeystone is '
                b'away.\\n\\n", "code": "503 Service Unavailable", "title": "No"}'
            ),
            'The server is away. Keystone is away.',
        ),
        (
            (
                b'<html><body><h1>503 Service Unavailable</h1>\nNo server is '
                b'available.\n</body></html>'
            ),
            '503 Service Unavailable No server is available.',
        ),
        (
            (
                b'{"error": {"code": 401, "title": "Unauthorized", "message": '
                b'"The request requires authentication."}}'
            ),
            'The request requires authentication.',
        ),
        (b'{"error": {"code": 401}}', '{"error": {"code": 401}}'),
        (b'{"error": "no", "message": "m"}', 'm'),
        (b'{"message": 5}', '{"message": 5}'),
        (b'[1]', '[1]'),
        (b'{"errors": {}, "message": "m"}', 'm'),
        (b'x' * 3000, 'x' * 197 + '...'),
        (
            b'y' * 170 + b' http://agent:s3cretpassword@host/placement',
            'y' * 170 + ' http://host/placement',
        ),
        (b'\xff', '\N{REPLACEMENT CHARACTER}'),
        (b'', ''),
    ],
)
def test_the_error_of_another_than_placement_is_a_line_without_tags(
    content, told
):
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    assert error_mapping.first_error(body, content) == {'detail': told}


def test_placements_own_error_is_taken_as_it_is():
    error = {'status': 409, 'detail': 'a < b > c'}
    assert error_mapping.first_error({'errors': [error, {}]}, b'') == error
    assert error_mapping.first_error({'errors': ['no']}, b'') == {}
