# SPDX-License-Identifier: Apache-2.0
"""A write is sent only while no other agent of the share can write."""

import socket
import time

import pytest
from connected import by_token, to_placement
from scripted_server import answer, scripted

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from report_client import errors as placement_errors
from report_client.http.messages import codec

ROOT = '/resource_providers/11111111-1111-4111-8111-111111111111'
WITHOUT_GENERATION = [
    codec.Request(
        method='POST', path='/resource_providers', body={'name': 'a'}
    ),
    codec.Request(method='PUT', path=ROOT, body={'name': 'b'}),
    codec.Request(method='DELETE', path=ROOT),
    codec.Request(method='PUT', path='/traits/CUSTOM_A'),
]
WITH_GENERATION = [
    codec.Request(
        method='PUT',
        path=f'{ROOT}/traits',
        body={'resource_provider_generation': 1, 'traits': []},
    ),
    codec.Request(
        method='POST',
        path='/reshaper',
        body={'inventories': {}, 'allocations': {}},
    ),
]


@pytest.fixture
def received():
    return []


@pytest.fixture
def server(received):
    """A server that answers everything."""

    def answers(request):
        received.append((request.method, request.path))
        return answer()

    with scripted(answers) as one:
        yield one


@pytest.fixture
def endless():
    """A server whose answers do not end."""

    def answers(_request):
        yield b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n'
        yield from one.drip(b' ')

    with scripted(answers) as one:
        yield one


def deposed():
    raise errors.Deposed('host-2 (process 7) took the lease')


@pytest.mark.catches('the fence is not asked before a delete', case='DELETE')
@pytest.mark.parametrize(
    'request_',
    WITHOUT_GENERATION + WITH_GENERATION,
    ids=lambda one: one.method,
)
def test_an_agent_that_lost_the_lease_sends_no_write(
    tmp_path, server, received, request_
):
    service = to_placement(tmp_path, by_token(server.url), fence=deposed)
    service.get('/resource_providers')
    with pytest.raises(errors.Deposed, match='host-2'):
        service.send(request_)
    assert received == [('GET', '/resource_providers')]


@pytest.mark.parametrize('request_', WITHOUT_GENERATION)
def test_a_write_without_generation_ends_with_the_lease(
    tmp_path, endless, request_
):
    service = to_placement(tmp_path, by_token(endless.url), fence=lambda: 1.0)
    with pytest.raises(placement_errors.Unreachable, match='within 1 s'):
        service.send(request_)


@pytest.mark.catches('a slow connection takes no time of the lease')
@pytest.mark.parametrize('request_', WITHOUT_GENERATION)
def test_an_agent_that_lost_the_lease_meanwhile_sends_nothing(
    tmp_path, server, received, request_
):
    """The fence is asked again when the connection stands."""
    asked = []

    def fence():
        asked.append(True)
        return 60.0 if len(asked) == 1 else deposed()

    service = to_placement(tmp_path, by_token(server.url), fence=fence)
    with pytest.raises(errors.Deposed, match='host-2'):
        service.send(request_)
    assert received == []


def test_a_lease_that_ended_meanwhile_sends_nothing(
    tmp_path, server, received
):
    left = [60.0, 0.0]
    service = to_placement(
        tmp_path, by_token(server.url), fence=lambda: left.pop(0)
    )
    with pytest.raises(placement_errors.Unreachable, match='was not sent'):
        service.send(WITHOUT_GENERATION[0])
    assert received == []


@pytest.mark.catches('what a network holds back is delivered later')
def test_a_write_that_was_given_up_is_dropped_with_its_connection(tmp_path):
    """A reset drops what was not delivered; tests/full has a cut network."""
    with socket.create_server(('127.0.0.1', 0)) as silent:
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        service = to_placement(tmp_path, by_token(url), fence=lambda: 1.0)
        with pytest.raises(placement_errors.Unreachable, match='1 s'):
            service.send(WITHOUT_GENERATION[2])
        opened, _ = silent.accept()
        with (
            opened,
            opened.makefile('rb') as arrived,
            pytest.raises(ConnectionResetError),
        ):
            arrived.read()


@pytest.mark.parametrize(
    'exc', [errors.Unavailable('the database'), errors.ConfigError('the url')]
)
def test_an_agent_whose_lease_is_in_doubt_meanwhile_says_why(
    tmp_path, server, received, exc
):
    asked = []

    def fence():
        asked.append(True)
        if len(asked) > 1:
            raise exc
        return 60.0

    service = to_placement(tmp_path, by_token(server.url), fence=fence)
    with pytest.raises(errors.AgentError, match=f'^{exc}$'):
        service.send(WITHOUT_GENERATION[0])
    assert received == []


@pytest.mark.parametrize('request_', WITH_GENERATION)
def test_a_write_with_a_generation_has_its_whole_deadline(
    tmp_path, endless, request_
):
    """The next holder moves the generation, so it cannot come too late."""
    service = to_placement(
        tmp_path,
        by_token(endless.url),
        {'request_deadline': 1.5},
        fence=lambda: 1.0,
    )
    with pytest.raises(placement_errors.Unreachable, match='within 1.5 s'):
        service.send(request_)


def test_a_write_that_waits_too_long_is_not_sent(tmp_path, server, received):
    """The rate limit makes the second one wait."""
    service = to_placement(
        tmp_path,
        by_token(server.url),
        {'max_requests_per_second': 0.01},
        wait=lambda _seconds: time.sleep(0.3),
        fence=lambda: 0.2,
    )
    service.get('/resource_providers')
    with pytest.raises(placement_errors.Unreachable, match='was not sent'):
        service.send(WITHOUT_GENERATION[2])
    assert received == [('GET', '/resource_providers')]


@pytest.mark.catches('a cycle goes on after the lease was lost')
def test_a_cycle_ends_for_the_nodes_that_have_not_begun(
    agent_factory,
):
    """As in a release: the node in hand is finished."""
    nodes = {f'11111111-1111-4111-8111-{n:012}': f'n{n}' for n in range(3)}
    begun = []

    def may_begin():
        if begun:
            deposed()
        begun.append(True)

    agent = agent_factory(
        lambda tree, name: tree.update_inventory(name, {'VCPU': {'total': 8}}),
        nodes=nodes,
        may_begin=may_begin,
    )
    results = agent.sync()
    done = [r.status is resource_tracker.Status.DONE for r in results]
    assert done.count(True) == 1
    assert all('host-2' in r.reason for r in results if not r.is_settled)
    assert all(r.outage and r.untried for r in results if not r.is_settled)
