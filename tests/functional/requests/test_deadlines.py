# SPDX-License-Identifier: Apache-2.0
"""Each answer has a deadline and a largest size, however it arrives."""

import gzip
import time
import zlib

import pytest
import scripted_server
from connected import by_password, by_token, to_ironic, to_placement
from scripted_server import answer, scripted

from compute_agent import errors
from compute_agent.transport import bounded_adapter
from drivers.ironic.client import api as ironic_api
from report_client import errors as placement_errors
from report_client.http.messages import codec, list_stream

LIST = '/resource_providers'
SHORT = {'request_deadline': 1.0}  # seconds
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

# The part that arrives at once, and what then arrives for ever, a bit at a
# time, each bit well within [placement] timeout.
SLOW = {
    'status line': (b'HTTP/1.1 2', b'0'),
    'headers': (HEAD + b'X-More: ', b'x'),
    'more headers': (HEAD, b'X-More: x\r\n'),
    'continue': (b'', b'HTTP/1.1 100 Continue\r\n\r\n'),
    'body': (HEAD + b'Content-Length: 9999999\r\n\r\n', b' '),
    'body without length': (HEAD + b'\r\n', b' '),
    'chunks': (HEAD + b'Transfer-Encoding: chunked\r\n\r\n', b'1\r\n \r\n'),
    'chunk size': (HEAD + b'Transfer-Encoding: chunked\r\n\r\n', b'0'),
    'error body': (b'HTTP/1.1 500 No\r\nContent-Length: 999999\r\n\r\n', b' '),
}


@pytest.fixture(params=SLOW)
def slow(request):
    """A server whose answer to everything never ends."""
    first, more = SLOW[request.param]

    def answers(_request):
        yield first
        yield from server.drip(more)

    with scripted(answers) as server:
        yield server


def read(service):
    return service.read(LIST, list_stream.listed_providers)


@pytest.mark.parametrize('ask', [read, lambda s: s.get(LIST)])
def test_an_answer_that_never_ends_is_an_outage(tmp_path, slow, ask):
    service = to_placement(tmp_path, by_token(slow.url), SHORT)
    with pytest.raises(placement_errors.Unreachable) as raised:
        ask(service)
    assert 'did not end within 1 s' in str(raised.value)
    assert '\n' not in str(raised.value)


def test_a_write_whose_answer_never_ends_may_have_been_done(tmp_path, slow):
    service = to_placement(tmp_path, by_token(slow.url), SHORT)
    put = codec.Request(method='PUT', path='/traits/CUSTOM_A')
    with pytest.raises(placement_errors.Unreachable, match='within 1 s'):
        service.send(put)


def test_a_keystone_that_never_ends_is_an_outage(tmp_path, slow):
    service = to_placement(tmp_path, by_password(slow.url), SHORT)
    with pytest.raises(placement_errors.Unreachable, match='within 1 s'):
        service.get(LIST)


def test_an_ironic_that_never_ends_is_an_outage(slow):
    driver = to_ironic(slow.url, **SHORT)
    with pytest.raises(errors.Unavailable, match='within 1 s'):
        driver.get_available_nodes()


def test_all_pages_of_ironic_have_one_deadline():
    def answers(request):
        """Answer a page a pause, each well within its own deadline."""
        server.stopping.wait(scripted_server.PAUSE)
        number = len(server.received)
        uuid = f'{number:08x}-1111-4111-8111-111111111111'
        return answer(body={'nodes': [row(uuid)], 'next': 'more'})

    with scripted(answers) as server:
        driver = to_ironic(server.url, listing_deadline=0.2)
        # On a busy machine, the time may be over before a page is asked for.
        with pytest.raises(
            errors.Unavailable,
            match=r'within 0\.2 s|took all the time that it had',
        ):
            driver.get_available_nodes()


def row(uuid):
    return {
        'uuid': uuid,
        'name': None,
        'resource_class': 'gold',
        'traits': [],
        'power_state': 'power off',
        'provision_state': 'available',
        'maintenance': False,
        'instance_uuid': None,
    }


def test_ironic_s_pages_and_nodes_are_counted(monkeypatch):
    def answers(_request):
        number = len(server.received)
        uuids = [f'{number:08x}-1111-4111-8111-{n:012x}' for n in range(3)]
        return answer(body={'nodes': [*map(row, uuids)], 'next': 'more'})

    with scripted(answers) as server:
        driver = to_ironic(server.url)
        monkeypatch.setattr(ironic_api, 'MOST_PAGES', 4)
        with pytest.raises(errors.UnknownState, match='after 4 pages'):
            driver.get_available_nodes()
        assert len(server.received) == 4
        monkeypatch.setattr(ironic_api, 'MOST_NODES', 5)
        with pytest.raises(errors.UnknownState, match='after 5 nodes'):
            driver.get_available_nodes()
    assert len(server.received) == 6


# --- sizes --------------------------------------------------------------------

SMALL = 100_000


@pytest.fixture
def small(monkeypatch):
    """Make the largest size small."""
    monkeypatch.setattr(bounded_adapter, 'MOST_AT_ONCE', SMALL)
    monkeypatch.setattr(bounded_adapter, 'MOST_STREAMED', SMALL)


def bodies():
    """Return bodies that unpack to more than the largest size."""
    large = b'{"resource_providers": [' + b' ' * 50 * SMALL + b']}'
    return {
        'plain': (large, {}),
        'gzip': (gzip.compress(large), {'Content-Encoding': 'gzip'}),
        'deflate': (zlib.compress(large), {'Content-Encoding': 'deflate'}),
    }


@pytest.mark.parametrize('status', [400, 500, 503])
@pytest.mark.parametrize('ask', [read, lambda s: s.get(LIST)])
def test_an_error_that_never_ends_is_told_and_not_read_to_the_end(
    tmp_path, ask, status
):
    def endless(_):
        yield f'HTTP/1.1 {status} X\r\n\r\n'.encode()
        for _ in range(64):
            yield bytes(bounded_adapter.MIB)
            written.append(status)

    written = []
    with scripted(endless) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(errors.AgentError) as raised:
            ask(service)
    assert f'HTTP {status}' in str(raised.value)
    assert 0 < len(written) < 64


@pytest.mark.usefixtures('small')
@pytest.mark.parametrize('how', bodies())
@pytest.mark.parametrize('ask', [read, lambda s: s.get(LIST)])
@pytest.mark.catches('an answer may be of any size')
def test_an_answer_may_not_be_too_large(tmp_path, ask, how):
    body, headers = bodies()[how]
    with scripted(lambda _: answer(200, body, headers)) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.MalformedAnswer) as raised:
            ask(service)
    said = str(raised.value)
    assert f'GET {server.url}{LIST} is larger than' in said


@pytest.mark.usefixtures('small')
@pytest.mark.parametrize('how', bodies())
def test_an_answer_of_ironic_may_not_be_too_large(how):
    body, headers = bodies()[how]
    with (
        scripted(lambda _: answer(200, body, headers)) as server,
        pytest.raises(errors.UnknownState, match='is larger than'),
    ):
        to_ironic(server.url).get_available_nodes()


@pytest.mark.parametrize('encoding', ['gzip, gzip', 'br', 'x\x9by'])
def test_only_a_compression_that_was_asked_for_is_unpacked(tmp_path, encoding):
    packed = gzip.compress(gzip.compress(b'{"resource_providers": []}'))
    sent = answer(200, packed, {'Content-Encoding': encoding})
    with scripted(lambda _: sent) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.MalformedAnswer) as raised:
            read(service)
    assert 'has the Content-Encoding' in str(raised.value)
    assert str(raised.value).isprintable()


def test_a_compressed_list_is_read(tmp_path):
    body = gzip.compress(b'{"resource_providers": []}')
    sent = answer(200, body, {'Content-Encoding': 'gzip'})
    with scripted(lambda _: sent) as server:
        assert read(to_placement(tmp_path, by_token(server.url))) == []


def test_a_row_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr(list_stream, 'MOST_ROW', SMALL)

    def chunks():
        yield b'{"resource_providers": [{"uuid": "'
        for _ in range(50):
            yield b'x' * SMALL
        pytest.fail('the row was read to its end')

    with pytest.raises(placement_errors.MalformedAnswer):
        list_stream.listed_providers(chunks())


@pytest.mark.parametrize(
    'start', [b'{"other": "', b'{"resource_providers": [']
)
def test_what_is_no_row_is_not_collected_for_ever(monkeypatch, start):
    monkeypatch.setattr(list_stream, 'MOST_REST', SMALL)
    monkeypatch.setattr(list_stream, 'MOST_ROW', SMALL)

    def chunks():
        yield start
        for _ in range(50):
            yield b' ' * SMALL
        pytest.fail('the body was read to its end')

    with pytest.raises(placement_errors.MalformedAnswer):
        list_stream.listed_providers(chunks())


def test_a_list_has_a_largest_number_of_rows(monkeypatch):
    monkeypatch.setattr(list_stream, 'MOST_ROWS', 3)
    uuid = '"11111111-1111-4111-8111-111111111111"'
    one = (
        f'{{"uuid": {uuid}, "name": "n", "generation": 1, '
        f'"parent_provider_uuid": null, "root_provider_uuid": {uuid}}}'
    )
    body = f'{{"resource_providers": [{", ".join([one] * 4)}]}}'
    with pytest.raises(placement_errors.MalformedAnswer, match='more than 3'):
        list_stream.listed_providers([body.encode()])


# --- parts --------------------------------------------------------------------


@pytest.mark.parametrize('ask', [read, lambda s: s.get(LIST)])
def test_a_part_of_a_list_is_no_list(tmp_path, ask):
    part = answer(206, {'resource_providers': []}, {'Content-Range': 'x'})
    with scripted(lambda _: part) as server:
        service = to_placement(tmp_path, by_token(server.url))
        with pytest.raises(placement_errors.MalformedAnswer, match='a part'):
            ask(service)


def test_a_part_of_ironic_s_list_is_no_list():
    with (
        scripted(lambda _: answer(206, {'nodes': []})) as server,
        pytest.raises(errors.UnknownState, match='a part'),
    ):
        to_ironic(server.url).get_available_nodes()


# --- how long to wait ---------------------------------------------------------

FAULT = {'error_message': '{"faultstring": "Too busy"}'}
WAITS = ['0', '120', '99999999999', '-1', 'soon', '\xb2']


@pytest.mark.parametrize('status', [429, 500, 503])
@pytest.mark.parametrize('wait', WAITS)
def test_ironic_says_when_to_come_back(status, wait):
    busy = answer(status, FAULT, {'Retry-After': wait})
    with scripted(lambda _: busy) as server:
        driver = to_ironic(server.url, api_max_retries=1)
        with pytest.raises(errors.AgentError) as raised:
            driver.get_available_nodes()
    said = str(raised.value)
    assert f'answered GET /v1/nodes: Too busy (HTTP {status})' in said
    assert len(server.received) == (2 if status == 503 else 1)


@pytest.mark.parametrize('wait', WAITS)
@pytest.mark.catches(
    'a server decides how long the agent sleeps', case='99999999999'
)
def test_a_server_does_not_decide_how_long_the_agent_sleeps(
    tmp_path, monkeypatch, wait
):
    slept = []
    monkeypatch.setattr(time, 'sleep', slept.append)
    busy = answer(503, {}, {'Retry-After': wait})
    with scripted(lambda _: busy) as server:
        options = {**by_token(server.url), 'status_code_retries': 1}
        service = to_placement(tmp_path, options)
        with pytest.raises(placement_errors.Unreachable):
            service.get(LIST)
    assert [0 <= seconds <= 60 for seconds in slept] == [True]


@pytest.mark.parametrize(
    'body',
    [
        *(b'7', b'null', b'[]', b'"busy"', b'{}', b'[' * 100_000, b'<html>'),
        b'{"error_message": {"faultstring": "Too busy"}}',
        b'{"error_message": null}',
        b'{"error_message": "[]"}',
        b'',
    ],
)
def test_the_status_of_ironic_s_answer_counts_whatever_its_body(body):
    with scripted(lambda _: answer(503, body)) as server:
        driver = to_ironic(server.url)
        with pytest.raises(errors.Unavailable) as raised:
            driver.get_available_nodes()
    assert 'HTTP 503' in str(raised.value)
    assert 'Error' not in str(raised.value)
