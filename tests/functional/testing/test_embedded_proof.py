# SPDX-License-Identifier: Apache-2.0
"""Nothing is sent to a service that is not this directory's own placement."""

import contextlib
import http.server
import socket
import threading
import urllib.request

import pytest

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import placement
from compute_agent.dev import proof
from report_client import errors
from report_client.http.messages import codec


class Stranger(http.server.ThreadingHTTPServer):
    """Another service at the port.

    :ivar asked: the requests that came, as method and path
    :ivar passes_on: the address of a real embedded placement, or ''
    """

    daemon_threads = True

    def __init__(self, answer, passes_on='', port=0) -> None:
        self.asked = []
        self.answer = answer
        self.passes_on = passes_on
        super().__init__(('127.0.0.1', port), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path))
        body = self.server.answer
        if self.server.passes_on:
            url = f'{self.server.passes_on}{self.path}'
            with urllib.request.urlopen(url) as answer:
                body = answer.read()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.do_GET()

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def stranger():
    with contextlib.ExitStack() as stack:

        def start(answer=b'{"versions": []}', passes_on='', port=0):
            server = stack.enter_context(Stranger(answer, passes_on, port))
            thread = threading.Thread(
                target=server.serve_forever, args=(0.05,)
            )
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return server

        yield start


@pytest.fixture
def configured(tmp_path):
    """Return the configuration of an embedded placement at a port."""

    def configured(port):
        file = tmp_path / 'agent.conf'
        file.write_text(
            f'[DEFAULT]\nstate_path = {tmp_path}/state\n'
            f'[placement]\nembedded = true\nembedded_port = {port}\n'
        )
        return configuration.load(
            main.GlobalOptions(
                config_files=[str(file)], config_dirs=[], debug=False
            )
        )

    return configured


@pytest.fixture
def served(configured, unused_port, placement_slot, patient_stops):
    """The configuration of an embedded placement that runs."""
    conf = configured(unused_port)
    with placement.embedded_placement(conf):
        yield conf


def _write(conf):
    placement.placement_service(conf).send(
        codec.Request(method='PUT', path='/traits/CUSTOM_GOLD')
    )


@pytest.mark.catches('any service at the port is the embedded placement')
@pytest.mark.parametrize(
    'answer', [b'', b'{"versions": []}', b'0' * 64, b'1' * 4000]
)
def test_a_stranger_gets_a_challenge_and_nothing_else(
    configured, stranger, tmp_path, answer
):
    server = stranger(answer)
    conf = configured(server.server_port)
    with pytest.raises(errors.Unreachable) as caught:
        _write(conf)
    assert str(caught.value) == (
        f'the service at http://127.0.0.1:{server.server_port} is not the '
        f'embedded placement of {tmp_path}/state, so nothing was sent to it: '
        'stop that service, or set another port in [placement] embedded_port'
    )
    ((method, path),) = server.asked
    assert method == 'GET'
    assert path.startswith('/embedded-placement/')


def test_a_stranger_that_never_answers_is_not_waited_for(
    configured, monkeypatch, tmp_path
):
    monkeypatch.setattr(proof, 'PATIENCE', 0.01)
    with socket.create_server(('127.0.0.1', 0)) as silent:
        conf = configured(silent.getsockname()[1])
        with pytest.raises(errors.Unreachable, match='is not the embedded'):
            _write(conf)


def test_a_stranger_cannot_pass_the_challenge_on(served, configured, stranger):
    url = f'http://127.0.0.1:{served.placement.embedded_port}'
    server = stranger(passes_on=url)
    with pytest.raises(errors.Unreachable, match='nothing was sent to it'):
        _write(configured(server.server_port))
    assert len(server.asked) == 1


def test_another_directorys_placement_is_a_stranger(served, tmp_path):
    secret = proof.secret_file(tmp_path / 'state' / 'placement.sqlite')
    secret.write_text('another')
    with pytest.raises(errors.Unreachable, match='nothing was sent to it'):
        _write(served)


def test_each_start_has_a_secret_that_only_its_user_reads(served, tmp_path):
    path = proof.secret_file(tmp_path / 'state' / 'placement.sqlite')
    assert path.stat().st_mode & 0o777 == 0o600
    _write(served)  # and the real one is used
    old = path.read_text()
    proof.make_secret(path)
    assert path.read_text() != old


def test_a_secret_that_cannot_be_read_is_said(served, tmp_path):
    path = proof.secret_file(tmp_path / 'state' / 'placement.sqlite')
    path.unlink()
    path.mkdir()
    with pytest.raises(errors.Unreachable, match='directory'):
        _write(served)


def test_the_placement_that_runs_already_is_used(served):
    with placement.embedded_if_asked(served):
        _write(served)


def test_a_stranger_at_the_port_is_not_used(configured, stranger):
    server = stranger()
    conf = configured(server.server_port)
    with (
        pytest.raises(placement.errors.ConfigError, match='port is in use'),
        placement.embedded_if_asked(conf),
    ):
        pass


def test_a_stranger_that_takes_the_port_later_gets_nothing(
    configured, unused_port, stranger, placement_slot, patient_stops
):
    """The service is asked on each connection, not once."""
    conf = configured(unused_port)
    service = placement.placement_service(conf)
    request = codec.Request(method='PUT', path='/traits/CUSTOM_GOLD')
    with placement.embedded_placement(conf):
        service.send(request)
    server = stranger(port=unused_port)
    with pytest.raises(errors.Unreachable):
        service.send(request)
    assert {path.rpartition('/')[0] for _, path in server.asked} == {
        '/embedded-placement'
    }
