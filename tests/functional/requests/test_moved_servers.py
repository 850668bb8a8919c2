# SPDX-License-Identifier: Apache-2.0
"""A service that moved is found again: by its connections, and in the catalog.

The agent is not restarted, and no token has expired.
"""

import concurrent.futures
import contextlib
import http.server
import logging
import threading
import time
import types

import pytest
import scripted_server
from connected import by_password, by_token, to_ironic, to_placement
from scripted_server import answer, scripted

from compute_agent import errors as agent_errors
from compute_agent.transport import catalog, deadline
from report_client import errors
from report_client.http.messages import codec

GET = codec.Request(method='GET', path='/traits')
# Each of so many is answered when all of them have arrived.
TOGETHER = codec.Request(method='GET', path='/resource_classes')
PEOPLE = 4
WAIT = 60  # seconds, for a machine at its limits


class Moved(http.server.ThreadingHTTPServer):
    """A server that keeps its connections, until its address moves.

    Then it says nothing more on the connections that it has, as if they led to
    the host that had the address before. New ones are answered.

    :ivar came_from: the clients of the connections
    :ivar died: the connections that lead nowhere
    """

    daemon_threads = True
    request_queue_size = 16

    def __init__(self) -> None:
        self.came_from = set()
        self.died = set()
        self.ended = threading.Event()
        self.together = threading.Barrier(PEOPLE)
        super().__init__(('127.0.0.1', 0), Answer)

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_port}'

    def move(self) -> None:
        self.died = set(self.came_from)


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        self.server.came_from.add(self.client_address)
        if self.client_address in self.server.died:
            self.server.ended.wait(WAIT)
            self.close_connection = True
            return
        if self.path == TOGETHER.path:
            self.server.together.wait(WAIT)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'{}')

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def moved():
    with Moved() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()


@pytest.mark.catches('idle connections outlive a request without an answer')
def test_connections_that_died_together_cost_one_request(tmp_path):
    with moved() as server:
        service = to_placement(
            tmp_path, {**by_token(server.url), 'timeout': 5}
        )
        with concurrent.futures.ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(service.send, [TOGETHER] * PEOPLE))
            assert len(server.came_from) == PEOPLE
            server.move()
            with pytest.raises(errors.Unreachable, match='no answer in time'):
                service.send(GET)
            answers = list(pool.map(service.send, [TOGETHER] * PEOPLE))
        assert answers == [{}] * PEOPLE


@pytest.mark.catches('a connection is used for ever')
def test_a_connection_is_used_no_longer_than_an_answer_may_take(
    tmp_path, monkeypatch
):
    late = 0
    monkeypatch.setattr(
        deadline,
        'time',
        types.SimpleNamespace(monotonic=lambda: time.monotonic() + late),
    )
    with moved() as server:
        service = to_placement(
            tmp_path, by_token(server.url), {'request_deadline': WAIT}
        )
        service.send(GET)
        service.send(GET)
        assert len(server.came_from) == 1
        late = WAIT
        service.send(GET)
        assert len(server.came_from) == 2


def gone(_request):
    """Break the connection off."""
    return []


def redirecting(_request):
    return answer(301, b'', {'Location': 'https://127.0.0.1:1/'})


def speaking_tls(_request):
    return answer(400, b'The plain HTTP request was sent to HTTPS port')


def without_backend(_request):
    return answer(503, b'')


class Cloud:
    """A keystone whose catalog changes, and the addresses of a service.

    :ivar old: the server at the service's first address
    :ivar new: the server at its next one
    :ivar catalog: service type → address
    """

    def __init__(self, stack, kind):
        self.old, self.new = (
            stack.enter_context(scripted(lambda _: answer())) for _ in range(2)
        )
        self.catalog = {kind: self.old.url}
        self.keystone = stack.enter_context(scripted())
        self.keystone.answers = lambda request: scripted_server.keystone(
            request, self.keystone.url, self.catalog
        )

    def asked(self, route):
        """Return how often keystone was asked for a path."""
        paths = [each.route for each in self.keystone.received]
        return sum(path.endswith(route) for path in paths)


@pytest.fixture
def cloud_of():
    with contextlib.ExitStack() as stack:
        yield lambda kind: Cloud(stack, kind)


@pytest.mark.parametrize(
    'instead', [gone, redirecting, speaking_tls, without_backend]
)
@pytest.mark.catches('the catalog of an old token is used')
def test_placement_is_found_at_the_new_address_of_the_catalog(
    tmp_path, cloud_of, caplog, instead
):
    caplog.set_level(logging.INFO, catalog.__name__)
    cloud = cloud_of('placement')
    service = to_placement(tmp_path, by_password(cloud.keystone.url))
    service.send(GET)
    cloud.old.answers = instead
    cloud.catalog['placement'] = cloud.new.url
    with pytest.raises(errors.Unreachable):
        service.send(GET)
    service.send(GET)
    assert [each.route for each in cloud.new.received] == ['/traits']
    (line,) = [
        r.getMessage() for r in caplog.records if r.name == catalog.__name__
    ]
    assert f'at {cloud.new.url} now, and not at {cloud.old.url}' in line


def test_an_endpoint_that_is_added_later_is_found(
    tmp_path, cloud_of, monkeypatch
):
    monkeypatch.setattr(catalog, 'PAUSE', 0.0)
    cloud = cloud_of('placement')
    address = cloud.catalog.pop('placement')
    service = to_placement(tmp_path, by_password(cloud.keystone.url))
    with pytest.raises(errors.Unreachable, match='no endpoint for placement'):
        service.send(GET)
    cloud.catalog['placement'] = address
    with pytest.raises(errors.Unreachable, match='no endpoint for placement'):
        service.send(GET)
    assert service.send(GET) == {}


@pytest.mark.catches('a new region is taken for the old one')
def test_a_new_region_is_not_taken_for_the_old_one(tmp_path, cloud_of):
    """Without region_name, keystoneauth takes the catalog's first region."""
    cloud = cloud_of('placement')
    service = to_placement(tmp_path, by_password(cloud.keystone.url))
    service.send(GET)
    cloud.old.answers = without_backend
    cloud.catalog['placement'] = {'a': cloud.new.url, 'one': cloud.old.url}
    for _ in range(2):
        with pytest.raises(errors.NoServer):
            service.send(GET)
    assert not cloud.new.received


@pytest.mark.catches('an outage asks keystone again and again')
def test_an_outage_asks_keystone_for_the_catalog_once_a_minute(
    tmp_path, cloud_of
):
    cloud = cloud_of('placement')
    service = to_placement(tmp_path, by_password(cloud.keystone.url))
    cloud.old.answers = without_backend
    for _ in range(5):
        with pytest.raises(errors.NoServer):
            service.send(GET)
    assert cloud.asked('/auth/catalog') == 1
    assert cloud.asked('/auth/tokens') == 1


def test_ironic_is_found_at_the_new_address_of_the_catalog(cloud_of):
    cloud = cloud_of('baremetal')
    nodes = answer(body={'nodes': []})
    cloud.old.answers = cloud.new.answers = lambda _request: nodes
    ironic = to_ironic(
        '',
        endpoint_override='',
        **by_password(cloud.keystone.url),
    )
    ironic.get_available_nodes()
    cloud.old.answers = redirecting
    cloud.catalog['baremetal'] = cloud.new.url
    with pytest.raises(agent_errors.Unavailable):
        ironic.get_available_nodes()
    ironic.get_available_nodes()
    assert cloud.new.received
