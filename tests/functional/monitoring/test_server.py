# SPDX-License-Identifier: Apache-2.0
"""The daemon's HTTP server, and what clients may do to it."""

import collections
import contextlib
import errno
import http.client
import json
import os
import pathlib
import socket
import stat
import threading
import time

import prometheus_client
import pytest

from compute_agent import errors
from compute_agent.cmd.control.node_states import Moment
from compute_agent.cmd.run import status
from compute_agent.monitoring import server
from compute_agent.monitoring.values import address, health

PATIENCE = 60.0  # seconds; only a hang takes as long
NOON = 1769860800.0


@pytest.fixture
def clock():
    """The seconds since a daemon's start; a test moves them."""
    return [0.0]


@pytest.fixture
def state(clock):
    """The status of a daemon."""
    return status.DaemonStatus(
        lambda: Moment(date=NOON + clock[0], uptime=clock[0])
    )


@pytest.fixture
def serve(state, monkeypatch):
    """Start a server, which gives up no thread; it is closed at the end."""
    monkeypatch.setattr(server, 'STOPPING', PATIENCE)
    with contextlib.ExitStack() as stack:

        def started(where='127.0.0.1:0'):
            registry = prometheus_client.CollectorRegistry()
            prometheus_client.Gauge(
                'compute_agent_test', 'A value.', registry=registry
            ).set(7)
            answers = server.Answers(
                registry, lambda: health.judge(state, 60.0)
            )
            made = server.MonitoringServer(address.parse(where), answers)
            stack.callback(made.close)
            made.start()
            return made

        yield started


class _Unix(http.client.HTTPConnection):
    """A connection to a unix socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.host)


def connection(made):
    if made.where.startswith('unix:'):
        return _Unix(made.where.removeprefix('unix:'))
    host, port = made.server_address[:2]
    return http.client.HTTPConnection(host, port, timeout=PATIENCE)


def ask(made, path, method='GET', **headers):
    """Return the status, the content type and the body of an answer."""
    with contextlib.closing(connection(made)) as opened:
        opened.request(method, path, headers=headers)
        answer = opened.getresponse()
        kind = answer.getheader('Content-Type')
        return answer.status, kind, answer.read().decode()


def connect(made):
    """Return a plain connection."""
    opened = socket.create_connection(made.server_address[:2], PATIENCE)
    opened.settimeout(PATIENCE)
    return opened


@pytest.mark.parametrize(
    'where', ['127.0.0.1:0', '[::1]:0', 'unix:{}/metrics.sock']
)
def test_it_answers_at_any_kind_of_address(serve, tmp_path, where):
    made = serve(where.format(tmp_path))
    code, kind, text = ask(made, '/metrics')
    assert (code, kind.partition(';')[0]) == (200, 'text/plain')
    assert 'compute_agent_test 7.0' in text


def test_prometheus_gets_the_format_that_it_asks_for(serve):
    accept = 'application/openmetrics-text; version=1.0.0'
    _, kind, text = ask(serve(), '/metrics?x=y', Accept=accept)
    assert kind.startswith('application/openmetrics-text')
    assert text.endswith('# EOF\n')


@pytest.mark.parametrize(
    'kind', ['application/openmetrics-text', 'text/plain']
)
@pytest.mark.parametrize('version', ['one', '1.x', '1..0'])
def test_a_version_that_is_no_number_gets_the_usual_format(
    serve, kind, version
):
    accept = f'{kind}; version={version}'
    code, told, text = ask(serve(), '/metrics', Accept=accept)
    assert (code, told.partition(';')[0]) == (200, 'text/plain')
    assert 'compute_agent_test 7.0' in text


def test_health_changes_with_the_cycles(serve, state):
    made = serve()
    code, kind, text = ask(made, '/healthz')
    assert (code, kind) == (200, 'application/json')
    assert json.loads(text)['status'] == 'starting'
    assert ask(made, '/readyz')[0] == 503
    state.begin()
    state.end([])
    assert json.loads(ask(made, '/healthz')[2])['status'] == 'ok'
    assert ask(made, '/readyz')[0] == 200


@pytest.mark.parametrize(
    ('hangs', 'word', 'alive'), [(True, 'hang', 503), (False, 'outage', 200)]
)
def test_a_sick_daemon_says_why(serve, state, clock, hangs, word, alive):
    made = serve()
    state.begin()
    clock[0] += 1200
    if not hangs:
        state.fail(errors.Unavailable('placement does not answer'))
    code, _, text = ask(made, '/healthz')
    found = json.loads(text)
    assert (code, found['status']) == (503, word)
    assert '\n' not in found['why']
    assert ('does not answer' in found['why']) is not hangs
    assert ask(made, '/livez')[0] == alive


@pytest.mark.parametrize(
    ('method', 'path', 'code'),
    [
        ('GET', '/', 404),
        ('GET', '/metrics/../etc/passwd', 404),
        ('HEAD', '/metrics', 200),
        ('POST', '/metrics', 501),
        ('DELETE', '/healthz', 501),
        ('GET', f'/{"a" * 70_000}', 414),
    ],
)
def test_other_requests_get_a_short_answer(serve, method, path, code):
    assert ask(serve(), path, method)[0] == code


@pytest.mark.parametrize(
    'sent',
    [
        b'',
        b'\0\xff\r\n\r\n',
        b'GET\r\n\r\n',
        b'GET /metrics HTTP/9.9\r\n\r\n',
        b'GET /metrics HTTP/1.1\r\n' + b'a: b\r\n' * 200 + b'\r\n',
        b'\x16\x03\x01\x02\x00\x01\x00',
    ],
)
def test_it_survives_bad_requests(serve, sent):
    made = serve()
    with connect(made) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while client.recv(4096):
                pass
    assert ask(made, '/metrics')[0] == 200


#: The beginnings of requests whose clients send no more.
HOSTILE = [b'', b'GET /li', b'GET /metrics HTTP/1.1\r\n']


@pytest.mark.parametrize('sent', HOSTILE)
@pytest.mark.parametrize('kept', [server.MOST, 3 * server.MOST])
@pytest.mark.catches('the first clients keep later ones out')
def test_a_probe_is_answered_whatever_other_clients_keep(serve, sent, kept):
    made = serve()
    with contextlib.ExitStack() as stack:
        for _ in range(kept):
            stack.enter_context(connect(made)).sendall(sent)
        _wait(lambda: len(made._deadlines) == server.MOST)
        for _ in range(server.MOST):
            assert ask(made, '/livez')[0] == 200
        assert len(made._deadlines) <= server.MOST


def test_a_client_that_waits_for_its_answer_is_not_the_one_to_go(
    serve, state, monkeypatch
):
    """An idle client gives way, though it came later."""
    made, held = serve(), threading.Event()
    begun = threading.Event()
    answer = made.answers.answer

    def slow(path, accepted):
        begun.set()
        held.wait(PATIENCE)
        return answer(path, accepted)

    monkeypatch.setattr(made.answers, 'answer', slow)
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(connect(made))
        first.sendall(b'GET /livez HTTP/1.0\r\n\r\n')
        assert begun.wait(PATIENCE)
        idle = [stack.enter_context(connect(made)) for _ in range(server.MOST)]
        assert _received(idle[0]) == b''
        held.set()
        assert first.recv(64).startswith(b'HTTP/1.0 200')


def test_clients_that_come_again_and_again_keep_no_probe_out(serve):
    made, over = serve(), threading.Event()

    def attack():
        """Open connections; each that is closed is opened again."""
        mine = collections.deque()
        while not over.is_set():
            mine.append(connect(made))
            if len(mine) > server.MOST:
                mine.popleft().close()
        for client in mine:
            client.close()

    attackers = [threading.Thread(target=attack) for _ in range(2)]
    for one in attackers:
        one.start()
    try:
        answers = [ask(made, '/livez')[0] for _ in range(60)]
    finally:
        over.set()
        for one in attackers:
            one.join()
    assert answers == [200] * 60


def test_each_connection_has_a_deadline(serve):
    made = serve()
    silent = [connect(made) for _ in range(3)]
    for client in silent:
        client.sendall(b'GET /metrics HTTP/1.1\r\n')
    _wait(lambda: len(made._deadlines) == len(silent))
    for request in list(made._deadlines):
        made._deadlines[request] = 0.0
    for client in silent:
        assert _received(client) == b''
        client.close()
    _wait(lambda: not made._deadlines)


def test_a_client_that_waits_does_not_delay_the_stop(serve):
    made = serve()
    with connect(made) as client:
        client.sendall(b'GET ')
        _wait(lambda: made._deadlines)
        made.close()
        assert not made._thread.is_alive()
        assert not made._deadlines
        assert _received(client) == b''


def test_a_port_that_is_taken_is_one_line(serve):
    made = serve()
    with pytest.raises(errors.ConfigError) as refused:
        serve(made.where)
    assert str(refused.value) == (
        f'[compute_agent] metrics_bind: cannot listen at {made.where} '
        '(Address already in use); another process listens there: stop it, '
        'or set another address'
    )


def test_a_unix_socket_that_is_in_use_stays(serve, tmp_path):
    path = f'unix:{tmp_path}/metrics.sock'
    made = serve(path)
    with pytest.raises(errors.ConfigError, match='another process listens'):
        serve(path)
    assert ask(made, '/metrics')[0] == 200


def test_a_unix_socket_that_nobody_accepts_at_does_not_delay_the_start(
    serve, tmp_path
):
    """Its queue is full, so a connection would wait for a process that hangs."""
    path = tmp_path / 'metrics.sock'
    with contextlib.ExitStack() as stack:
        hanging = stack.enter_context(socket.socket(socket.AF_UNIX))
        hanging.bind(str(path))
        hanging.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                client = stack.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                client.connect(str(path))
        with pytest.raises(errors.ConfigError, match='another process listen'):
            serve(f'unix:{path}')
    assert path.exists()


def test_a_unix_socket_that_cannot_be_removed_is_no_error_of_the_stop(
    serve, tmp_path, monkeypatch
):
    def refuse(*_args, **_how):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    made = serve(f'unix:{tmp_path}/metrics.sock')
    with monkeypatch.context() as broken:
        broken.setattr(pathlib.Path, 'unlink', refuse)
        made.close()
    assert not made._thread.is_alive()


def test_a_unix_socket_of_a_daemon_that_was_killed_is_replaced(
    serve, tmp_path
):
    path = tmp_path / 'metrics.sock'
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    made = serve(f'unix:{path}')
    assert ask(made, '/metrics')[0] == 200
    assert stat.S_IMODE(path.stat().st_mode) == server.SOCKET_MODE
    made.close()
    assert not path.exists()


@pytest.mark.parametrize(
    ('where', 'said'),
    [
        ('unix:{}/file', 'a file that is no socket has this path'),
        ('unix:{}/missing/a', 'its directory is missing'),
        ('192.0.2.1:9733', 'this host has no such address'),
    ],
)
def test_an_address_that_cannot_be_used_is_one_line(
    serve, tmp_path, where, said
):
    (tmp_path / 'file').write_text('keep')
    with pytest.raises(errors.ConfigError, match=said):
        serve(where.format(tmp_path))
    assert (tmp_path / 'file').read_text() == 'keep'


def test_without_descriptors_it_waits_instead_of_spinning(serve, monkeypatch):
    made = serve()
    pauses = []
    monkeypatch.setattr(server.time, 'sleep', pauses.append)
    with monkeypatch.context() as broken:
        broken.setattr(server.socketserver.TCPServer, 'get_request', _raise)
        with connect(made) as client:
            _wait(lambda: pauses)
            del client
    assert ask(made, '/metrics')[0] == 200


def _raise(_server):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def _received(client):
    with contextlib.suppress(ConnectionResetError):
        return client.recv(1)
    return b''


def _wait(condition):
    """Wait until a condition holds."""
    until = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < until, 'it never came true'
        pause.wait(0.02)
