# SPDX-License-Identifier: Apache-2.0
"""A list is read while it comes: whole, or there is an error and no list."""

import contextlib
import gzip
import http.client
import json
import logging
import re
import socket
import socketserver
import struct
import threading

import pytest
import urllib3.util.connection
from keystoneauth1 import adapter, plugin, session, token_endpoint

from benchmarks import row_stream
from report_client import errors
from report_client.http import placement as placement_api
from report_client.http.messages import codec, list_stream, paths
from report_client.observe import reader

WAIT = 60  # seconds, for a machine at its limits
WHERE = 'the placement of this test'
NAMES = ('cn1', 'ü\N{GOAT}' * 60, ']}, {[', 'a"b\\c')


def uuid(number):
    return f'11111111-1111-4111-8111-{number:012}'


def create_cloud(post, count):
    """Create so many providers, every third a child of the one before."""
    for number in range(count):
        name = f'{NAMES[number % 4]}-{number}'
        body = {'uuid': uuid(number), 'name': name}
        if number % 3 == 2:
            body['parent_provider_uuid'] = uuid(number - 1)
        post('/resource_providers', body)


@pytest.fixture
def service_at():
    """Reach placement at an address, over connections of its own."""
    with contextlib.ExitStack() as opened:

        def reach(url, auth=None, **options):
            made = session.Session(
                auth=auth or token_endpoint.Token(url, 'admin'), **options
            )
            opened.enter_context(contextlib.closing(made.session))
            made.session.trust_env = False
            found = adapter.Adapter(
                made, service_type='placement', endpoint_override=url
            )
            return placement_api.Placement(found, WHERE)

        yield reach


def listed(service, on_chunk=lambda: None):
    """Return the list of providers; a function is told of each chunk."""

    def taken_in(chunks):
        def told():
            for chunk in chunks:
                on_chunk()
                yield chunk

        return list_stream.listed_providers(told())

    return service.read(paths.PROVIDERS, taken_in)


# --- the real placement -------------------------------------------------------


def test_it_is_the_list_that_placement_answers(placement, service):
    create_cloud(placement.post, 40)
    found = reader.Reader(service, lambda: 0.0).list_providers(paths.PROVIDERS)
    assert found == codec.listed_providers(
        placement.get('/resource_providers')
    )
    assert len(found) == 40


def test_it_is_so_over_a_connection(placement_server, service_at):
    service = service_at(placement_server.url)

    def post(path, body):
        service.send(codec.Request(method='POST', path=path, body=body))

    create_cloud(post, 100)
    found = listed(service)
    assert found == codec.listed_providers(service.get(paths.PROVIDERS))
    assert len(found) == 100


def test_the_benchmark_s_list_is_in_placement_s_own_bytes(placement, raw):
    made = ''.join(row_stream.written(1))
    (row,) = json.loads(made)['resource_providers']
    placement.post(
        '/resource_providers', {k: row[k] for k in ('uuid', 'name')}
    )
    assert raw('GET', '/resource_providers').text == made


def test_nothing_listed_is_an_answer(service):
    assert (
        service.read(paths.in_tree(uuid(1)), list_stream.listed_providers)
        == []
    )


def test_an_older_placement_is_asked_again(placement, service, newest):
    newest('1.30')
    assert listed(service) == []
    assert [r.microversion for r in placement.requests] == ['1.39', '1.30']


def test_what_is_too_new_for_it_is_not_asked(placement, service, newest):
    newest('1.30')
    with pytest.raises(errors.TooOld, match=r'needs 1\.35 or newer'):
        service.read(paths.PROVIDERS, list_stream.listed_providers, (1, 35))
    assert [r.status for r in placement.requests] == [406]


@pytest.mark.parametrize(
    ('answer', 'raised', 'said'),
    [
        (500, errors.ServerFault, 'injected by the test'),
        (503, errors.Unreachable, 'HTTP 503'),
        (403, errors.NotAuthorised, 'the role admin or service'),
        ((404, '<h1>no</h1>'), errors.Unreachable, 'is no placement'),
        ((302, ''), errors.Unreachable, 'redirected without a Location'),
        ((204, None), errors.MalformedAnswer, 'None is not an object'),
        ((200, '<h1>hi</h1>'), errors.MalformedAnswer, 'answer is not JSON'),
    ],
)
def test_a_refusal_is_what_it_is_to_other_requests(
    placement, service, answer, raised, said
):
    placement.fault('GET *', answer)
    with pytest.raises(raised, match=said):
        listed(service)


class Renewed(plugin.BaseAuthPlugin):
    """A token that placement does not take any more, until it is renewed."""

    token = 'expired'

    def get_token(self, *_args, **_more):
        return self.token

    def invalidate(self):
        self.token = 'admin'
        return True


def test_a_token_that_expired_is_renewed(placement, service_at):
    auth = Renewed()
    service = service_at(placement.url, auth, session=placement.session)
    placement.fault('GET *', 401)
    assert listed(service) == []
    assert [r.status for r in placement.requests] == [401, 200]
    assert auth.token == 'admin'


# --- a server that says what it is told ---------------------------------------

ROWS = [
    {
        'uuid': uuid(number),
        'name': f'cn{number}',
        'generation': 0,
        'parent_provider_uuid': None,
        'root_provider_uuid': uuid(number),
        'links': [{'rel': 'self', 'href': 'x' * 200}],
    }
    for number in range(1000)
]
BODY = json.dumps({'resource_providers': ROWS}).encode()
HALF = len(BODY) // 2
PACKED = gzip.compress(BODY)


def head(length, status='200 OK', **fields):
    """Return the head of an answer; of no length, it comes in chunks."""
    lines = [f'HTTP/1.1 {status}', 'Content-Type: application/json']
    lines += [f'{name.replace("_", "-")}: {f}' for name, f in fields.items()]
    lines.append(
        f'Content-Length: {length}' if length else 'Transfer-Encoding: chunked'
    )
    return '\r\n'.join([*lines, '', '']).encode()


def chunks(body, size=1000):
    return b''.join(
        b'%x\r\n%b\r\n' % (len(piece), piece)
        for at in range(0, len(body), size)
        if (piece := body[at : at + size])
    )


AT_ONCE = struct.pack('ii', 1, 0)  # SO_LINGER: a close resets the connection


class Server(socketserver.ThreadingTCPServer):
    """Answers the requests of all connections in turn, as it was told.

    :ivar answers: what is sent for each, bit by bit, and how it goes on after
        the last: 'on', 'close', 'reset' when ``begun`` is set, or 'silent'
        until ``heard`` is set
    :ivar begun: to be set when the client has read the head of an answer
    :ivar connections: how many there were
    :ivar ended: how many of them the client or the server has ended
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Connection)
        self.answers = []
        self.begun = threading.Event()
        self.connections = 0
        self.ended = threading.Semaphore(0)
        self.heard = threading.Event()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_address[1]}'

    def shutdown_request(self, request):
        """Close a connection, without a FIN before the RST of a reset."""
        size = len(AT_ONCE)
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, size) == (
            AT_ONCE
        ):
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """A client that went away in the middle is no error here."""


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.connections += 1
        with contextlib.suppress(OSError):
            while self.heard() and self.answer():
                pass
        self.server.ended.release()

    def heard(self):
        """Read one request without a body; whether there was one."""
        line = self.rfile.readline()
        while line not in (b'', b'\r\n'):
            line = self.rfile.readline()
        return bool(line)

    def answer(self):
        """Send the next answer; whether the connection goes on."""
        sent, after = self.server.answers.pop(0)
        self.wfile.write(sent)
        if after == 'silent':
            self.server.heard.wait(WAIT)
        if after == 'reset':
            self.server.begun.wait(WAIT)
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE
            )
        return after == 'on'


@pytest.fixture
def server():
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        yield made
        made.begun.set()
        made.heard.set()
        made.shutdown()
        thread.join()


COMPLETE = {
    'of a length': head(len(BODY)) + BODY,
    'in chunks': head(0) + chunks(BODY) + b'0\r\n\r\n',
    'in tiny chunks': head(0) + chunks(BODY, 7) + b'0\r\n\r\n',
    'packed': head(len(PACKED), Content_Encoding='gzip') + PACKED,
    'packed, in chunks': (
        head(0, Content_Encoding='gzip') + chunks(PACKED) + b'0\r\n\r\n'
    ),
}


@pytest.mark.parametrize('answer', COMPLETE)
def test_a_list_that_comes_whole_keeps_its_connection(
    server, service_at, answer
):
    server.answers = [(COMPLETE[answer], 'on')] * 2
    service = service_at(server.url)
    for _ in range(2):
        assert listed(service) == codec.listed_providers(json.loads(BODY))
    assert server.connections == 1


@pytest.mark.parametrize(
    ('answer', 'after', 'said'),
    [
        (head(len(BODY)) + BODY[:HALF], 'close', 'IncompleteRead'),
        # The kernel decides if the client sees the reset or an early end.
        (
            head(len(BODY)) + BODY[:HALF],
            'reset',
            'Connection reset by peer|IncompleteRead',
        ),
        (head(len(BODY)) + BODY[:-1], 'close', 'IncompleteRead'),
        (head(len(BODY)), 'close', 'IncompleteRead'),
        (head(0) + chunks(BODY[:HALF]), 'close', 'invalid literal'),
        (head(0) + chunks(BODY)[:-9], 'close', 'IncompleteRead'),
        (head(0) + chunks(BODY), 'close', 'invalid literal'),
        (head(0) + b'zz\r\n' + BODY, 'close', 'invalid literal'),
        (
            head(HALF, '503 Service Unavailable') + b'{"errors": [',
            'close',
            'IncompleteRead',
        ),
    ],
)
@pytest.mark.parametrize('level', [logging.INFO, logging.DEBUG])
def test_a_list_that_breaks_off_is_no_list(
    server, service_at, caplog, monkeypatch, answer, after, said, level
):
    begin = http.client.HTTPResponse.begin

    def begun(response):
        begin(response)
        server.begun.set()

    monkeypatch.setattr(http.client.HTTPResponse, 'begin', begun)
    caplog.set_level(level)
    server.answers = [(answer, after)]
    with pytest.raises(errors.Unreachable) as raised:
        listed(service_at(server.url))
    assert str(raised.value).startswith(f'{WHERE} broke off its answer (')
    assert re.search(said, str(raised.value))
    assert '\n' not in str(raised.value)


def test_one_that_cannot_be_unpacked_is_no_list(server, service_at):
    answer = head(len(BODY), Content_Encoding='gzip') + BODY
    server.answers = [(answer, 'on')]
    with pytest.raises(errors.Unreachable, match='incorrect header check'):
        listed(service_at(server.url))
    assert server.ended.acquire(timeout=WAIT)


@pytest.fixture
def connected(monkeypatch):
    """The sockets of the connections that were made."""
    made, connect = [], urllib3.util.connection.create_connection

    def noted(*args, **options):
        made.append(connect(*args, **options))
        return made[-1]

    monkeypatch.setattr(urllib3.util.connection, 'create_connection', noted)
    return made


def test_one_that_stops_coming_ends_the_wait(server, service_at, connected):
    """The time for a chunk is shortened once the first one has come."""
    seconds = []

    def shorten():
        seconds.append(connected[0].gettimeout())
        connected[0].settimeout(0.01)

    server.answers = [(head(len(BODY)) + BODY[:HALF], 'silent')]
    with pytest.raises(errors.Unreachable, match='broke off its answer'):
        listed(service_at(server.url, timeout=WAIT), shorten)
    assert seconds[0] == WAIT


def test_of_no_length_and_cut_it_is_malformed(server, service_at):
    answer = b'HTTP/1.0 200 OK\r\n\r\n' + BODY[:HALF]
    server.answers = [(answer, 'close')]
    with pytest.raises(
        errors.MalformedAnswer, match=r'malformed after \d+ providers'
    ):
        listed(service_at(server.url))


def test_a_wrong_row_lets_the_connection_go_at_once(server, service_at):
    wrong = json.dumps({'resource_providers': [{'uuid': 5}, *ROWS]}).encode()
    server.answers = [(head(9 * len(wrong)) + wrong, 'on')]
    service = service_at(server.url)
    with pytest.raises(errors.MalformedAnswer, match='5 is not a string'):
        listed(service)
    assert server.ended.acquire(timeout=WAIT)


def test_a_refusal_keeps_its_connection(server, service_at):
    said = b'{"errors": [{"status": 500, "detail": "no"}]}'
    refusal = head(len(said), '500 Internal Server Error') + said
    server.answers = [(refusal, 'on'), (head(len(BODY)) + BODY, 'on')]
    service = service_at(server.url)
    with pytest.raises(errors.ServerFault):
        listed(service)
    assert len(listed(service)) == len(ROWS)
    assert server.connections == 1


def test_what_was_refused_a_token_leaves_no_connection_behind(
    server, service_at
):
    said = b'{"errors": [{"status": 401}]}'
    refusal = head(len(said), '401 Unauthorized') + said
    server.answers = [(refusal, 'on'), (head(len(BODY)) + BODY, 'on')]
    service = service_at(server.url, Renewed())
    assert len(listed(service)) == len(ROWS)
    for _ in range(server.connections - 1):
        assert server.ended.acquire(timeout=WAIT)
    assert not server.ended.acquire(blocking=False)
