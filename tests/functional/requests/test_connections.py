# SPDX-License-Identifier: Apache-2.0
"""Each worker keeps its connection to placement: none is set up twice."""

import concurrent.futures
import contextlib
import http.server
import threading

import pytest

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import placement
from compute_agent.dev import proof
from report_client import errors

ROUNDS = 3
WAIT = 60  # seconds, for a machine at its limits


class Meeting(http.server.ThreadingHTTPServer):
    """A server that answers once as many ask at the same time.

    :ivar came_from: the addresses of the connections there were
    :ivar secret: by which the embedded placement is recognized
    """

    daemon_threads = True
    request_queue_size = 64

    secret = ''

    def __init__(self, people: int) -> None:
        self.came_from = set()
        self.barrier = threading.Barrier(people)
        super().__init__(('127.0.0.1', 0), Answer)


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers as placement does to a list of nothing."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        self.server.came_from.add(self.client_address)
        if self.path != '/resource_providers':
            self._prove()
            return
        try:
            self.server.barrier.wait(WAIT)
        except threading.BrokenBarrierError:
            self.close_connection = True
            return
        self._answer(b'{"resource_providers": []}')

    def _prove(self) -> None:
        """Answer a challenge as the embedded placement does."""
        proving = proof.ProvingApplication(
            None, self.server.secret, self.server.server_port
        )
        answer = proving({'PATH_INFO': self.path}, lambda *_args: None)
        self._answer(b''.join(answer))

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header('OpenStack-API-Version', 'placement 1.39')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def meeting(people):
    with Meeting(people) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def by_address(port):
    return (
        'auth_type = admin_token',
        'token = admin',
        f'endpoint = http://127.0.0.1:{port}',
        'tls_min_version = 1.2',
    )


def embedded(port):
    return ('embedded = true', f'embedded_port = {port}')


def prepare(tmp_path, server):
    """Give a server what the embedded placement of this directory has."""
    database = tmp_path / 'placement.sqlite'
    server.secret = proof.make_secret(proof.secret_file(database))


def configured(tmp_path, options, workers):
    lines = [
        '[DEFAULT]',
        f'state_path = {tmp_path}',
        '[compute]',
        f'update_resources_max_workers = {workers}',
        '[placement]',
        *options,
    ]
    file = tmp_path / 'agent.conf'
    file.write_text('\n'.join(lines))
    return configuration.load(
        main.GlobalOptions(
            config_files=[str(file)], config_dirs=[], debug=False
        )
    )


@pytest.mark.parametrize('how', [by_address, embedded])
@pytest.mark.parametrize('workers', [16, 2])
def test_as_many_connections_are_made_as_there_are_workers(
    tmp_path, caplog, how, workers
):
    with meeting(workers) as server:
        prepare(tmp_path, server)
        conf = configured(tmp_path, how(server.server_port), workers)
        service = placement.placement_service(conf)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for _ in range(ROUNDS):
                asked = ['/resource_providers'] * workers
                assert len(list(pool.map(service.get, asked))) == workers
    assert len(server.came_from) == workers
    assert 'Connection pool is full' not in caplog.text


def test_an_answer_that_does_not_come_ends_the_wait(tmp_path):
    with meeting(2) as server:
        options = (*by_address(server.server_port), 'timeout = 1')
        conf = configured(tmp_path, options, 16)
        service = placement.placement_service(conf)
        try:
            with pytest.raises(errors.Unreachable, match='no answer in time'):
                service.get('/resource_providers')
        finally:
            server.barrier.abort()


def test_only_a_server_that_is_not_there_may_soon_be_asked_again(
    tmp_path, unused_port
):
    conf = configured(tmp_path, by_address(unused_port), 1)
    with pytest.raises(errors.NoServer, match='refused'):
        placement.placement_service(conf).get('/resource_providers')
    with meeting(2) as server:
        options = (*by_address(server.server_port), 'timeout = 1')
        service = placement.placement_service(configured(tmp_path, options, 1))
        try:
            with pytest.raises(errors.Unreachable) as late:
                service.get('/resource_providers')
        finally:
            server.barrier.abort()
    assert not isinstance(late.value, errors.NoServer)
