# SPDX-License-Identifier: Apache-2.0
"""Who gets a page, and what everybody else gets: one line that tells nothing."""

import contextlib
import socket

import explored_pages
import pytest

from compute_agent.cmd.explore import rendering, web_server

SECRET = 'a provider of this cloud'


@pytest.fixture
def site():
    """Serve one page with a secret, which notes who came to it."""
    reached = []

    def page(asked):
        reached.append(asked.path)
        return rendering.text(200, SECRET)

    page.reached = reached
    return page


@pytest.fixture
def server(site, patient_stops):
    """A server with that page."""
    with explored_pages.served(site) as one:
        yield one


def refused(answer, body, status):
    """Check that an answer is one line, and has the headers of a page."""
    assert answer.status == status, body
    assert body.count('\n') == 1
    assert body.endswith('\n')
    assert SECRET not in body
    assert answer.getheader('Content-Type').startswith('text/plain')
    checked(answer)


def checked(answer):
    policy = answer.getheader('Content-Security-Policy')
    assert policy.startswith("default-src 'none'")
    assert 'unsafe' not in policy
    assert 'script-src' not in policy
    assert answer.getheader('X-Content-Type-Options') == 'nosniff'
    assert answer.getheader('Referrer-Policy') == 'no-referrer'
    assert answer.getheader('X-Frame-Options') == 'DENY'
    assert answer.getheader('Server') in {None, ''}


def everything(connection):
    """Return all that a server sends until it closes."""
    return b''.join(iter(lambda: connection.recv(4096), b''))


@pytest.mark.catches('a page needs no token')
def test_a_page_needs_the_token(server, site):
    for path in ('/', '/providers', '/style.css', '/?format=json'):
        refused(*server.ask(path), 403)
    refused(*server.ask('/?token='), 403)
    refused(*server.ask('/?token=' + 'x' * 32), 403)
    refused(*server.ask('/', Cookie='compute_agent_test='), 403)
    refused(*server.ask('/', Cookie='compute_agent_test=x'), 403)
    assert site.reached == []


def test_the_token_leads_to_the_page_without_it(server):
    answer = server.enter('/providers')
    assert answer.status == 303
    assert answer.getheader('Location') == '/providers'
    cookie = answer.getheader('Set-Cookie')
    assert 'HttpOnly' in cookie
    assert 'SameSite=Lax' in cookie
    answer, body = server.ask('/providers')
    assert (answer.status, body) == (200, f'{SECRET}\n')
    checked(answer)


@pytest.mark.catches('a token works more than once')
def test_a_token_works_once(server):
    token = server.guard.token
    server.enter()
    refused(*server.ask(f'/?token={token}', Cookie=''), 403)
    assert server.guard.token != token


def test_another_browser_has_another_token(server):
    server.enter()
    first = server.cookie
    server.enter()
    assert server.cookie != first
    for cookie in (first, server.cookie):
        assert server.ask('/', Cookie=cookie)[0].status == 200


def test_the_parameters_of_a_shared_address_survive_the_token(server):
    answer, _ = server.ask(
        f'/why-not?specs=trait%3AX%3Drequired&token={server.guard.token}'
    )
    place = answer.getheader('Location')
    assert place == '/why-not?specs=trait%3AX%3Drequired'


def test_the_token_leads_to_no_other_site(server):
    answer, _ = server.ask(f'//evil.example/?token={server.guard.token}')
    assert not answer.getheader('Location', '/').startswith('//')


HOSTS = [
    'evil.example', 'evil.example:80', '127.0.0.1.evil.example', '10.0.0.1',
    '127.0.0.1@evil.example', 'localhost.evil.example', '[::2]', '', '.',
]  # fmt: skip


@pytest.mark.catches('any Host is this server')
@pytest.mark.parametrize('host', HOSTS)
def test_a_foreign_host_is_refused(server, site, host):
    server.enter()
    answer, body = server.ask('/', Host=host)
    if host:
        refused(answer, body, 421)
    assert answer.status in {400, 421}
    assert site.reached == []


def test_each_name_of_this_machine_is_this_server(server):
    server.enter()
    for host in ('localhost', f'LOCALHOST:{server.port}', '[::1]:8000'):
        assert server.ask('/', Host=host)[0].status == 200


ORIGINS = [
    {'Origin': 'http://evil.example'},
    {'Origin': 'null'},
    {'Origin': 'http://127.0.0.1:1'},
    {'Origin': 'https://127.0.0.1'},
    {'Sec_Fetch_Site': 'cross-site', 'Sec_Fetch_Mode': 'no-cors'},
    {'Sec_Fetch_Site': 'same-site', 'Sec_Fetch_Mode': 'cors'},
]


@pytest.mark.catches('a page of any site may ask')
@pytest.mark.parametrize('headers', ORIGINS)
def test_a_foreign_origin_is_refused(server, site, headers):
    server.enter()
    refused(*server.ask('/', **headers), 403)
    assert site.reached == []


def test_the_own_origin_and_a_followed_link_are_not_refused(server):
    server.enter()
    own = {'Origin': f'http://{server.host}'}
    link = {'Sec_Fetch_Site': 'cross-site', 'Sec_Fetch_Mode': 'navigate'}
    for headers in (own, link):
        assert server.ask('/', **headers)[0].status == 200


@pytest.mark.parametrize(
    'method', ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH']
)
def test_nothing_but_reading_is_answered(server, site, method):
    server.enter()
    refused(*server.ask('/', method), 405)
    assert site.reached == []


def test_a_head_has_no_body(server):
    server.enter()
    answer, body = server.ask('/', 'HEAD')
    assert (answer.status, body) == (200, '')


@pytest.mark.parametrize('path', ['/%ff', '/?a=%ff', '/?' + 'a=1&' * 70])
def test_an_address_that_makes_no_sense_is_refused(server, site, path):
    server.enter()
    refused(*server.ask(path), 400)
    assert site.reached == []


def test_too_long_a_head_is_refused(server, site):
    server.enter()
    answer, _ = server.ask('/?a=' + 'x' * 50_000)
    assert answer.status == 431
    assert site.reached == []


def test_a_body_is_refused(server, site):
    server.enter()
    answer, _ = server.ask('/', Content_Length='1000000')
    assert answer.status == 413
    assert site.reached == []


def test_a_request_that_is_none_leaks_nothing(server):
    for text in (b'\0\0\0\0\r\n\r\n', b'GET\r\n\r\n', b'GET / HTTP/9\r\n\r\n'):
        with socket.create_connection(('127.0.0.1', server.port), 60) as one:
            one.sendall(text)
            one.shutdown(socket.SHUT_WR)
            answer = everything(one)
        assert SECRET.encode() not in answer
        assert b'Traceback' not in answer
    server.enter()
    assert server.ask('/')[0].status == 200


@pytest.mark.catches('any number of connections is taken')
def test_the_connections_too_many_get_a_line_and_the_others_go_on(server):
    """Of 1,000 silent connections, the most are closed at once."""
    with contextlib.ExitStack() as stack:
        told = 0
        for _ in range(1000):
            one = socket.create_connection(('127.0.0.1', server.port), 60)
            stack.enter_context(one)
            one.settimeout(explored_pages.PATIENCE)
            if len(stack._exit_callbacks) > web_server.MOST:
                answer = everything(one)
                assert answer.startswith(b'HTTP/1.1 503 ')
                head, _, body = answer.partition(b'\r\n\r\n')
                assert b'Content-Security-Policy' in head
                assert body.count(b'\n') == 1
                assert SECRET.encode() not in answer
                told += 1
                one.close()
        assert told == 1000 - web_server.MOST
    while server.enter().status == 503:  # until the server noticed
        pass
    assert server.ask('/')[0].status == 200
