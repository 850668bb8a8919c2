# SPDX-License-Identifier: Apache-2.0
"""``explore`` as a person runs it: an address with a token, and its end."""

import re
import socket
import stat

import explored_cloud
import pytest
import requests

TOKEN = re.compile(r'http://\S+\?token=\S+')


@pytest.fixture
def explore(cli, daemon):
    """Start the command for a cloud."""
    explored_cloud.build(cli)

    def start(*words):
        one = daemon(cli.config, *words, command='explore')
        one.wait_for('Ctrl-C stops it')
        return one

    return start


def test_the_printed_address_opens_the_page_once(explore):
    one = explore()
    (url,) = TOKEN.findall(one.said)
    with requests.Session() as browser:
        page = browser.get(url, timeout=60)
        assert page.ok
        assert 'token' not in page.url
        assert 'VGPU' in page.text
        assert browser.get(f'{page.url}providers', timeout=60).ok
    assert requests.get(url, timeout=60).status_code == 403
    one.wait_for('for another browser')
    _, other = TOKEN.findall(one.said)
    assert requests.get(other, timeout=60).ok
    assert one.end() == 0
    assert 'Traceback' not in one.said


def test_a_unix_socket_is_for_its_user_alone(explore, tmp_path):
    path = tmp_path / 'explore.sock'
    one = explore('--bind', f'unix:{path}')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (token,) = re.findall(r'\?token=(\S+)', one.said)
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(60)
        asked.connect(str(path))
        asked.sendall(
            f'GET /?token={token} HTTP/1.1\r\nHost: localhost:8000\r\n'
            'Connection: close\r\n\r\n'.encode()
        )
        answer = b''.join(iter(lambda: asked.recv(4096), b''))
    assert answer.startswith(b'HTTP/1.1 303 ')
    assert one.end() == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ('bind', 'why'),
    [
        ('0.0.0.0:0', 'other machines can reach'),
        ('nonsense', 'is no address'),
        ('unix:relative', 'no absolute path'),
    ],
)
def test_an_address_that_will_not_do_is_one_line(cli, bind, why):
    result = cli.run('explore', '--bind', bind)
    assert result.code == 1
    assert why in result.line


def test_an_address_that_is_taken_is_one_line(cli):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        result = cli.run('explore', '--bind', f'127.0.0.1:{port}')
    assert result.code == 1
    assert 'another process listens there' in result.line
