# SPDX-License-Identifier: Apache-2.0
"""The ``placement`` fixture: real, fresh, recording, failing on demand."""

import concurrent.futures
import time

import pytest
import requests
from keystoneauth1 import adapter, session, token_endpoint

from compute_agent.testing.fixtures import in_process

ONE = '11111111-1111-4111-8111-111111111111'
TWO = '22222222-2222-4222-8222-222222222222'


@pytest.fixture
def agent(placement):
    """What the agent speaks through: a keystoneauth adapter."""
    return adapter.Adapter(
        session.Session(
            auth=token_endpoint.Token(placement.url, 'admin'),
            session=placement.session,
        ),
        service_type='placement',
        default_microversion='1.39',
        raise_exc=False,
    )


def _create(placement, uuid, name):
    placement.post('/resource_providers', {'uuid': uuid, 'name': name})


@pytest.mark.parametrize('turn', [1, 2])
def test_each_test_gets_a_fresh_one(placement, turn):
    assert placement.get('/resource_providers') == {'resource_providers': []}
    assert len(placement.get('/traits')['traits']) >= 377
    assert placement.requests == []
    _create(placement, ONE, 'left behind')
    placement.put('/traits/CUSTOM_LEFT_BEHIND')
    placement.fault('*', 500)
    placement.session.get(placement.url + '/')


def test_the_agents_requests_are_recorded_and_the_operators_not(
    placement, agent
):
    _create(placement, ONE, 'one')
    agent.get('/resource_providers?name=one')
    agent.put(
        f'/resource_providers/{ONE}/traits',
        json={'traits': [], 'resource_provider_generation': 0},
    )
    listed, written = placement.requests[-2:]
    assert listed == in_process.Request(
        method='GET',
        path='/resource_providers?name=one',
        microversion='1.39',
        status=200,
        handled=True,
    )
    assert str(written) == f'PUT /resource_providers/{ONE}/traits'
    assert written.body == {'traits': [], 'resource_provider_generation': 0}
    assert placement.writes == [written]
    placement.clear()
    assert placement.requests == []


def test_an_operator_says_which_answer_it_expects(placement):
    placement.get(f'/resource_providers/{ONE}', status=404)
    with pytest.raises(AssertionError, match='404'):
        placement.get(f'/resource_providers/{ONE}')
    assert placement.delete('/traits/CUSTOM_X', status=404)['errors']
    placement.put('/traits/CUSTOM_X', status=201)
    assert placement.put('/traits/CUSTOM_X', status=204) is None


def test_an_operator_may_reshape(placement):
    placement.post(
        '/reshaper', {'inventories': {}, 'allocations': {}}, status=400
    )


def test_the_nth_match_gets_the_fault_and_the_next_passes(placement, agent):
    fault = placement.fault(
        'PUT /traits/*', (503, {'errors': []}), skip=1, times=2
    )
    statuses = [agent.put(f'/traits/CUSTOM_{n}').status_code for n in range(5)]
    assert statuses == [201, 503, 503, 201, 201]
    assert fault.hits == 2
    assert [r.handled for r in placement.writes] == [
        True, False, False, True, True,
    ]  # fmt: skip
    known = placement.get('/traits?name=startswith:CUSTOM_')['traits']
    assert sorted(known) == ['CUSTOM_0', 'CUSTOM_3', 'CUSTOM_4']


def test_a_predicate_matches_and_a_body_may_be_garbage(placement, agent):
    placement.fault(
        lambda request: request.body == {'name': 'two'}, (200, '<html>')
    )
    agent.post('/resource_providers', json={'name': 'one'})
    answer = agent.post('/resource_providers', json={'name': 'two'})
    assert answer.text == '<html>'
    assert len(placement.get('/resource_providers')['resource_providers']) == 1


@pytest.mark.parametrize(
    'error', [requests.ConnectionError, requests.ReadTimeout('too late')]
)
@pytest.mark.parametrize('after_commit', [False, True])
def test_an_exception_comes_before_or_after_the_commit(
    placement, error, after_commit
):
    placement.fault('POST *', error, after_commit=after_commit)
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind):
        placement.session.post(
            placement.url + '/resource_providers',
            json={'name': 'one'},
            headers={
                'X-Auth-Token': 'admin',
                'OpenStack-API-Version': 'placement 1.39',
            },
        )
    (request,) = placement.requests
    assert request.status is None
    assert request.handled is after_commit
    there = placement.get('/resource_providers')['resource_providers']
    assert len(there) == after_commit


def test_a_hook_acts_between_two_requests(placement, agent):
    _create(placement, ONE, 'one')

    def meddle(request):
        if request.method == 'PUT' and not request.path.endswith('CUSTOM_A'):
            placement.put(
                f'/resource_providers/{ONE}/aggregates',
                {'aggregates': [TWO], 'resource_provider_generation': 0},
            )

    placement.before_request(meddle)
    assert agent.put('/traits/CUSTOM_A').status_code == 201
    answer = agent.put(
        f'/resource_providers/{ONE}/traits',
        json={'traits': ['CUSTOM_A'], 'resource_provider_generation': 0},
    )
    assert answer.status_code == 409
    placement.mend()
    assert agent.get('/traits/CUSTOM_A').status_code == 204


def test_many_threads_may_ask_at_once(placement, agent):
    def create(number):
        return agent.post(
            '/resource_providers', json={'name': f'node-{number}'}
        ).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(create, range(40))) == {200}
    assert len(placement.writes) == 40


def test_an_answer_can_be_read_as_a_stream(placement, agent):
    answer = agent.get('/traits', stream=True)
    assert len(b''.join(answer.iter_content(100))) > 5000


def test_what_it_holds_is_there_after_hours(placement, monkeypatch):
    _create(placement, ONE, 'one')
    later = time.time() + 7 * 3600
    monkeypatch.setattr('time.time', lambda: later)
    assert placement.get(f'/resource_providers/{ONE}')['name'] == 'one'


def test_it_can_be_another_placement_for_a_while(placement):
    placement.plant({'a': {}})
    record = placement.agent_state
    with placement.aside() as other:
        assert placement.held() == {}
        assert placement.agent_state is not record
        placement.plant({'b': {}})
    assert list(placement.held()) == ['a']
    assert placement.agent_state is record
    with placement.aside(other):
        assert list(placement.held()) == ['b']
    other.close()
