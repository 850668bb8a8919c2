# SPDX-License-Identifier: Apache-2.0
"""Answers of a server fail on their way, as they are told to."""

import contextlib
import http.client
import http.server
import json
import socket
import threading
import urllib.error
import urllib.request

import pytest

from compute_agent.testing.contract import watch, wire
from compute_agent.testing.contract.wire import WireFailure, WireFault

BODY = {'racks': ['a' * 50, 'b' * 50]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        body = json.dumps(BODY).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as made:
        made.daemon_threads = True
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made.server_port
        made.shutdown()
        thread.join()


@pytest.fixture
def wired():
    with wire.Wire().installed() as made:
        yield made


def ask(port, timeout=5):
    with urllib.request.urlopen(
        f'http://127.0.0.1:{port}/racks', timeout=timeout
    ) as answer:
        return json.load(answer)


def ask_and_close(port, timeout=5):
    """Ask, and close the connection also if the server resets it."""
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=timeout)
    with contextlib.closing(client):
        client.request('GET', '/racks')
        client.getresponse().close()


def failing(wired, fault):
    return wired.failing(WireFailure(fault=fault, number=1))


def test_everything_passes_and_is_counted(wired, server):
    assert ask(server) == BODY
    client = http.client.HTTPConnection('127.0.0.1', server, timeout=5)
    for path in ('/one', '/two'):
        client.request('GET', path)
        assert json.load(client.getresponse()) == BODY
    client.close()
    assert wired.titles == ['GET /racks', 'GET /one', 'GET /two']


def test_the_connections_of_the_agent_are_not_the_driver_s(wired, server):
    with watch.agent_runs():
        assert ask(server) == BODY
    assert wired.titles == []


@pytest.mark.parametrize(
    ('fault', 'status'), [(WireFault.ERROR, 500), (WireFault.UNAVAILABLE, 503)]
)
def test_a_status_comes_with_an_empty_answer(wired, server, fault, status):
    with (
        failing(wired, fault) as failure,
        pytest.raises(urllib.error.HTTPError) as caught,
    ):
        ask(server)
    with caught.value as answer:
        assert (answer.code, json.load(answer)) == (status, {})
    assert failure.hits == 1


def test_half_of_a_body_comes_and_the_head_announces_all(wired, server):
    with (
        failing(wired, WireFault.CUT),
        pytest.raises(http.client.IncompleteRead),
    ):
        ask(server)


def test_a_connection_is_reset(wired, server):
    with (
        failing(wired, WireFault.RESET),
        pytest.raises(OSError, match='reset'),
    ):
        ask(server)


def test_an_answer_in_small_pieces_is_whole(wired, server):
    with failing(wired, WireFault.SLOW) as failure:
        assert ask(server) == BODY
    assert failure.hits == 1


def test_a_driver_with_a_limit_gives_up(wired, server):
    with (
        failing(wired, WireFault.SILENCE) as failure,
        pytest.raises(TimeoutError),
    ):
        ask(server, timeout=3600)
    assert not failure.is_endless


def test_a_driver_without_a_limit_is_found(wired, server, monkeypatch):
    monkeypatch.setattr(wire, '_PATIENCE', 0.2)
    with failing(wired, WireFault.SILENCE) as failure:
        with pytest.raises(OSError, match='reset'):
            ask_and_close(server, timeout=None)
        assert failure.is_endless


def test_a_thread_at_work_ends_with_the_wire(server, monkeypatch):
    """It closes its sockets itself: no other thread does it under its feet."""
    waits, goes_on, ready = threading.Event(), threading.Event(), wire._ready

    def held(*sockets):
        waits.set()
        goes_on.wait()
        ready(*sockets)

    monkeypatch.setattr(wire, '_ready', held)
    with contextlib.ExitStack() as stack:
        stack.callback(goes_on.set)
        with wire.Wire().installed():
            client = socket.create_connection(('127.0.0.1', server))
            stack.enter_context(client)
            client.sendall(b'GET / HTTP/1.1\r\n')  # half of a question
            assert waits.wait(5)
        goes_on.set()
        assert client.recv(1) == b''
    for thread in threading.enumerate():
        if thread.name == 'wire':
            thread.join()


def test_a_failure_says_what_it_is():
    one = WireFailure(fault=WireFault.CUT, number=2, title='GET /racks')
    every = WireFailure(fault=WireFault.UNAVAILABLE)
    assert str(one) == 'half of the body in exchange 2 (GET /racks)'
    assert str(every) == 'every exchange with a server ends with status 503'
