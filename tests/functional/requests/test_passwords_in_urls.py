# SPDX-License-Identifier: Apache-2.0
"""A password inside an address is sent, and is shown and stored nowhere."""

import base64
import contextlib
import itertools
import logging
import signal
import socket
import sqlite3
import string

import pytest
import requests
import scripted_server
from command_line import FAKE_FILE
from connected import by_password, by_token, to_ironic, to_placement
from keystoneauth1 import exceptions
from scripted_server import answer, scripted

from compute_agent import error_text, errors
from compute_agent.state import state
from compute_agent.state.database import schema
from compute_agent.transport import url_credentials

SECRET = 's3cret-of@the'  # its @ is written as it is, too
BASIC = base64.b64encode(f'user:{SECRET}'.encode()).decode()
DEAD = 'http://127.0.0.1:9'  # nothing listens there
# They have to be written as %2F, for example, in a URL.
REFUSED = set('/?#') | set(string.whitespace)
TAKEN = sorted(set(string.printable) - REFUSED)
# Around each character of a user name and of a password.
USER, PASSWORD = (
    f's3cret{"s3cret".join(c for c in TAKEN if c not in without)}s3cret'
    for without in (':', '')
)


def with_secret(url, secret=SECRET):
    return url.replace('//', f'//user:{secret}@')


def check(*texts):
    for text, part in itertools.product(texts, (SECRET, 's3cret', BASIC)):
        assert part not in str(text)


@pytest.fixture
def logged(caplog):
    """All that is logged; it has no secret."""
    caplog.set_level(logging.DEBUG)
    yield caplog
    check(caplog.text)


@pytest.fixture
def secret_cli(cli, capsys):
    """The command line, whose address of placement has a password."""
    cli.configure({'endpoint_override': with_secret(cli.url)})
    return cli


def stored(cli):
    """Return the bytes of all files in the state directory."""
    files = [f for f in cli.state_path.rglob('*') if f.is_file()]
    return b'\n'.join(file.read_bytes() for file in files)


def test_a_daemon_shows_no_printable_character_of_it(cli, daemon, tmp_path):
    """Any local user may read what /healthz says."""
    cli.stop_placement()
    url = cli.url.replace('//', f'//{USER}:{PASSWORD}@').replace('$', '$$')
    health = tmp_path / 'health.sock'
    cli.configure(
        {'endpoint': url},
        {'metrics_bind': f'unix:{health}'},
        update_resources_interval=3600,
    )
    one = daemon(cli.config, '--debug')
    one.wait_for('retrying until it is mended')
    one.process.send_signal(signal.SIGUSR2)
    report = cli.state_path / 'report.txt'
    one.wait_for('the report is in')
    told = [
        one.said,
        report.read_text(),
        asked(health, '/healthz'),
        *(
            cli.run(*words).out
            for words in (['status'], ['state', 'show'], ['history'])
        ),
        stored(cli).decode(errors='replace'),
    ]
    assert one.end() == 0
    address = cli.url.removeprefix('http://')
    shown = [address in text for text in told]
    assert shown == [True, True, True, True, False, True, True]
    for text in told:
        assert 's3cret' not in text


def asked(path, what):
    """Return the body of an answer at a unix socket."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as opened:
        opened.settimeout(60)
        opened.connect(str(path))
        opened.sendall(f'GET {what} HTTP/1.0\r\n\r\n'.encode())
        with opened.makefile() as answer:
            return answer.read()


@pytest.mark.parametrize('debug', [[], ['--debug']])
@pytest.mark.parametrize(
    'words', [['sync'], ['plan'], ['tree', 'show'], ['trait', 'list']]
)
def test_a_command_that_succeeds_shows_no_password(
    secret_cli, logged, words, debug
):
    result = secret_cli.run(*debug, *words)
    assert result.code in {0, 2}, result.err
    check(result.out, result.err)
    assert SECRET.encode() not in stored(secret_cli)


@pytest.mark.parametrize('debug', [[], ['--debug']])
@pytest.mark.parametrize(
    'url',
    [
        with_secret(DEAD),
        with_secret('http://no-such-host.invalid'),
        with_secret('http://127.0.0.1:9', 's3cret/of'),
        with_secret('http://127.0.0.1:9', 's3cret#of'),
        with_secret('http://127.0.0.1:9', '12/s3cret'),
        with_secret('http://127.0.0.1:9', 's3cret of'),
        with_secret('http://127.0.0.1:9', 'of\ts3cret'),
        with_secret('http://127.0.0.1:port'),
        with_secret('//127.0.0.1'),
        f'user:{SECRET}@127.0.0.1',
    ],
)
@pytest.mark.parametrize('option', ['endpoint_override', 'endpoint'])
def test_a_command_that_fails_shows_no_password(
    cli, logged, option, url, debug
):
    cli.configure({option: url})
    for words in (['sync'], ['status'], ['doctor'], ['state', 'show']):
        result = cli.run(*debug, *words)
        assert result.code == 1 or words == ['state', 'show'], result
        check(result.out, result.err)
    assert b's3cret' not in stored(cli)


@pytest.mark.parametrize('secret', ['s3cret/of', '12#s3cret', 's@cr/s3cret'])
@pytest.mark.parametrize('scheme', ['http://', ''])
def test_a_proxy_that_cannot_be_read_is_refused_without_its_password(
    cli, logged, monkeypatch, scheme, secret
):
    monkeypatch.setenv('http_proxy', f'{scheme}user:{secret}@127.0.0.1:9')
    result = cli.run('plan')
    assert result.code == 1
    check(result.out, result.err)
    assert 'variable http_proxy is not an address' in result.err
    assert 'write / as %2F' in result.err


@pytest.mark.parametrize('url', ['127.0.0.1:9', 'http://u:s%2F3@127.0.0.1:9'])
def test_a_proxy_that_can_be_read_is_taken(monkeypatch, url):
    monkeypatch.setenv('HTTPS_PROXY', url)
    url_credentials.check_proxies()


@pytest.mark.parametrize(
    'wrapped', [False, True], ids=['as it is', 'by keystoneauth']
)
def test_a_cause_has_no_part_of_an_address_that_cannot_be_read(wrapped):
    with pytest.raises(requests.exceptions.InvalidURL) as caught:
        requests.get('http://user:s3cret/of@127.0.0.1:9', timeout=1)
    found = caught.value
    if wrapped:
        found = exceptions.UnknownConnectionError(str(found), found)
        found.__cause__ = caught.value
    check(error_text.cause(found))


def test_the_password_is_sent_as_a_header(tmp_path, logged):
    with scripted(lambda _: answer(body={'resource_providers': []})) as server:
        url = with_secret(server.url)
        for options in (
            by_token(url),
            {**by_token(server.url), 'endpoint_override': url},
        ):
            service = to_placement(tmp_path, options)
            service.get('/resource_providers')
            assert 's3cret' not in service.where
    for request in server.received:
        assert request.headers['authorization'] == f'Basic {BASIC}'
        assert request.headers['x-auth-token'] == 'TOKEN-0'


def test_each_printable_character_is_sent_and_not_shown(tmp_path, logged):
    with scripted(lambda _: answer(body={'resource_providers': []})) as server:
        for user, password in (
            *((f's3cret{c}', 'x') for c in TAKEN if c != ':'),
            *(('x', f's3cret{c}s3cret') for c in TAKEN),
        ):
            url = server.url.replace('//', f'//{user}:{password}@')
            options = by_token(url.replace('$', '$$'))
            service = to_placement(tmp_path, options)
            service.get('/resource_providers')
            assert service.where == f'placement at {server.url}'
            sent = server.received[-1].headers['authorization']
            assert base64.b64decode(sent.removeprefix('Basic ')).decode() == (
                f'{user}:{password}'
            )


@pytest.mark.parametrize('c', sorted(REFUSED - {'/'}))
@pytest.mark.parametrize(
    'shape', ['http://s3cret{}s3cret:x@h:80', 'http://x:s3cret{}s3cret@h:80']
)
def test_what_a_url_cannot_have_is_refused_and_not_shown(shape, c):
    with pytest.raises(errors.ConfigError, match='write / as %2F') as raised:
        url_credentials.check('[placement] endpoint', shape.format(c))
    check(raised.value, error_text.address(shape.format(c)))


def test_the_password_goes_to_its_own_host_only(tmp_path, logged):
    def keystone(request):
        catalog = {'placement': other.url}
        return scripted_server.keystone(request, identity.url, catalog)

    with scripted(keystone) as identity, scripted() as other:
        url = with_secret(identity.url)
        options = {**by_password(url), 'valid_interfaces': 'public'}
        to_placement(tmp_path, options).get('/resource_providers')
    assert [r.headers.get('authorization') for r in other.received] == [None]
    assert {r.headers['authorization'] for r in identity.received} == {
        f'Basic {BASIC}'
    }


def test_a_keystone_that_is_away_is_said_without_its_password(
    tmp_path, logged
):
    service = to_placement(tmp_path, by_password(with_secret(DEAD)))
    with pytest.raises(errors.AgentError) as raised:
        service.get('/resource_providers')
    assert '127.0.0.1:9' in str(raised.value)
    check(raised.value, service.where)


@pytest.mark.parametrize('away', [True, False])
def test_ironic_s_address_is_said_without_its_password(logged, away):
    with scripted(lambda _: answer(500)) as server:
        driver = to_ironic(with_secret(DEAD if away else server.url))
        with pytest.raises(errors.AgentError) as raised:
            driver.get_available_nodes()
        assert [r.headers['authorization'] for r in server.received] == (
            [] if away else [f'Basic {BASIC}']
        )
    check(raised.value)


def test_a_proxy_that_is_away_is_said_without_its_password(
    tmp_path, logged, monkeypatch
):
    monkeypatch.setenv('http_proxy', with_secret(DEAD))
    monkeypatch.setenv('no_proxy', '')
    service = to_placement(tmp_path, by_token('http://placement.invalid'))
    with pytest.raises(errors.AgentError) as raised:
        service.get('/resource_providers')
    check(raised.value)


def test_a_password_that_was_stored_is_removed_with_its_traces(
    secret_cli, logged
):
    """As an earlier release left it; the snapshot stays in use."""
    secret_cli.configure()
    assert secret_cli.run('sync').code == 0
    file = secret_cli.state_path / schema.FILE_NAME
    with contextlib.closing(sqlite3.connect(file)) as db:
        (name,) = db.execute('select name from site').fetchone()
        db.execute('update site set name = ?', (with_secret(name),))
        db.commit()
    assert b's3cret' in stored(secret_cli)
    assert secret_cli.run('plan').code == 0  # reads a copy
    assert secret_cli.run('sync').code == 0
    assert b's3cret' not in stored(secret_cli)
    with contextlib.closing(sqlite3.connect(file)) as db:
        assert db.execute('select name from site').fetchall() == [(name,)]


def test_of_two_snapshots_of_one_service_one_stays(tmp_path):
    state.State.open(tmp_path, 'http://one').close()
    file = tmp_path / schema.FILE_NAME
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("insert into site (name) values ('http://one')")
        db.execute("insert into site (name) values ('http://u:s3cret@one')")
        db.execute(
            "insert into known values ((select max(id) from site), '', '', 0)"
        )
        db.commit()
    state.State.open(tmp_path, 'http://one').close()
    with contextlib.closing(sqlite3.connect(file)) as db:
        assert db.execute('select name from site').fetchall() == [
            ('http://one',)
        ]
        assert db.execute('select count(*) from known').fetchone() == (0,)


def test_the_fake_file_is_what_is_reported(secret_cli):
    """Else the tests above would prove nothing."""
    assert secret_cli.run('sync').code == 0
    assert 'CUSTOM_GOLD' in FAKE_FILE
    assert 'CUSTOM_GOLD' in secret_cli.run('tree', 'show').out
