# SPDX-License-Identifier: Apache-2.0
"""No redirect is followed: credentials and bodies stay with their server."""

import pytest
import scripted_server
from connected import PASSWORD, by_password, by_token, to_ironic, to_placement
from scripted_server import answer, scripted

from compute_agent import errors
from report_client import errors as placement_errors
from report_client.http.messages import codec

STATUSES = (301, 302, 303, 305, 307, 308)
GET = codec.Request(method='GET', path='/resource_providers')
PUT = codec.Request(method='PUT', path='/traits/CUSTOM_A', body={'a': 1})


@pytest.fixture(params=STATUSES)
def status(request):
    return request.param


@pytest.fixture
def elsewhere():
    """A server that must receive nothing."""
    with scripted() as server:
        yield server


def redirect(elsewhere, status):
    secret = elsewhere.url.replace('//', '//user:hidden@')
    target = f'{secret}/taken?token=hidden'
    return answer(status, b'', {'Location': target})


def check(raised, elsewhere, section='placement'):
    """Check that the other server got nothing, and the one line about it.

    The line names the target and the option, and no secret.
    """
    assert elsewhere.received == []
    said = str(raised.value)
    assert f'redirected to {elsewhere.url}/taken (HTTP ' in said
    assert f'in [{section}], or correct the endpoint in the catalog' in said
    assert '\n' not in said
    assert 'hidden' not in said
    assert PASSWORD not in said


@pytest.mark.parametrize('sent', [GET, PUT], ids=lambda sent: sent.method)
def test_a_redirect_of_placement_ends_at_placement(
    tmp_path, elsewhere, status, sent
):
    with scripted(lambda _: redirect(elsewhere, status)) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.Unreachable) as raised:
            service.send(sent)
    check(raised, elsewhere)
    assert len(server.received) == 1


@pytest.mark.parametrize('method', ['GET', 'POST'])
@pytest.mark.catches('a session follows redirects')
def test_a_redirect_of_keystone_ends_at_keystone(
    tmp_path, elsewhere, status, method
):
    def answers(request):
        if request.method == method:
            return redirect(elsewhere, status)
        return scripted_server.keystone(request, server.url, {})

    with scripted(answers) as server:
        service = to_placement(tmp_path, by_password(server.url))
        with pytest.raises(placement_errors.Unreachable) as raised:
            service.send(GET)
    check(raised, elsewhere)
    if method == 'POST':
        assert 'use it as auth_url in' in str(raised.value)


@pytest.mark.parametrize('asked', ['nodes', 'keystone'])
def test_a_redirect_of_ironic_ends_there(elsewhere, status, asked):
    def answers(request):
        keystones = scripted_server.is_keystones(request)
        if keystones and asked != 'keystone':
            catalog = {'baremetal': server.url}
            return scripted_server.keystone(request, server.url, catalog)
        return redirect(elsewhere, status)

    with scripted(answers) as server:
        options = by_password(server.url)
        driver = to_ironic(server.url, **options)
        with pytest.raises(errors.Unavailable) as raised:
            driver.get_available_nodes()
    check(raised, elsewhere, 'ironic')


def test_a_redirect_without_a_location_is_said(tmp_path):
    with scripted(lambda _: answer(302)) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.Unreachable) as raised:
            service.send(GET)
    assert 'redirected without a Location (HTTP 302)' in str(raised.value)


def test_a_loop_of_redirects_ends_at_once(tmp_path):
    def answers(request):
        return answer(307, b'', {'Location': request.path})

    with scripted(answers) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.Unreachable):
            service.send(GET)
    assert len(server.received) == 1
