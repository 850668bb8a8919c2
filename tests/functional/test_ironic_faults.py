# SPDX-License-Identifier: Apache-2.0
"""An Ironic that answers badly: nothing is removed, and each node is said."""

import json
import re

import pytest
import requests
import requests_mock
from ironic_agents import ironic_driver

from compute_agent import errors, resource_tracker

URL = 'http://127.0.0.1:6385'
Status = resource_tracker.Status
UUIDS = [f'{n}{n * 7}-1111-4111-8111-111111111111' for n in '123456']
GOLD = 'CUSTOM_GOLD'


def row(uuid, **fields):
    return {
        'uuid': uuid,
        'name': f'node-{uuid[0]}',
        'resource_class': 'gold',
        'traits': ['CUSTOM_X'],
        'power_state': 'power off',
        'provision_state': 'available',
        'maintenance': False,
        'instance_uuid': None,
        **fields,
    }


class Ironic:
    """An Ironic of the test's making, two nodes a page."""

    def __init__(self, mock):
        self.rows = [row(uuid) for uuid in UUIDS]
        self.bad = {}
        self.asked = []
        mock.get(f'{URL}/v1/nodes', content=self._page)
        mock.get(re.compile(f'{URL}/v1/nodes/.+'), content=self._node)

    def _page(self, request, context):
        self.asked.append(request.path_url)
        context.headers['Content-Type'] = 'application/json'
        marker = request.qs.get('marker', [None])[0]
        uuids = [one['uuid'] for one in self.rows]
        first = uuids.index(marker) + 1 if marker else 0
        if (bad := self.bad.get(first // 2)) is not None:
            if isinstance(bad, Exception):
                raise bad
            return bad
        page = {'nodes': self.rows[first : first + 2]}
        if first + 2 < len(uuids):
            page['next'] = f'{URL}/v1/nodes?marker={uuids[first + 1]}'
        return json.dumps(page).encode()

    def _node(self, request, context):
        self.asked.append(request.path_url)
        context.headers['Content-Type'] = 'application/json'
        uuid = request.path.rsplit('/', 1)[1]
        for one in self.rows:
            if one['uuid'] == uuid:
                return json.dumps({'uuid': uuid}).encode()
        context.status_code = 404
        fault = {'faultstring': f'Node {uuid} could not be found.'}
        return json.dumps({'error_message': json.dumps(fault)}).encode()


@pytest.fixture
def ironic():
    with requests_mock.Mocker(real_http=True) as mock:
        yield Ironic(mock)


@pytest.fixture
def agent(agent_factory, ironic):
    driver = ironic_driver(URL, api_max_retries=0)
    return agent_factory(driver)


def of(results, number):
    (found,) = [r for r in results if r.node.uuid == UUIDS[number]]
    return found


BAD = {
    'an empty object': b'{}',
    'no list': b'{"nodes": {}}',
    'half of it': b'{"nodes": [{"uuid": "4444',
    'no JSON': b'<html>busy</html>',
    'nothing': b'',
    'no node': b'{"nodes": [7]}',
    'a node without uuid': b'{"nodes": [{"name": "x"}]}',
    'a node with half its fields': json.dumps(
        {'nodes': [{'uuid': UUIDS[2], 'traits': []}]}
    ).encode(),
    'traits that are none': json.dumps(
        {'nodes': [row(UUIDS[2], traits=None)]}
    ).encode(),
    'a node of another page': json.dumps({'nodes': [row(UUIDS[0])]}).encode(),
    'an empty page with more to come': b'{"nodes": [], "next": "x"}',
    'no answer in time': requests.exceptions.ReadTimeout(),
    'a broken connection': requests.exceptions.ConnectionError(),
    'an answer cut off': requests.exceptions.ChunkedEncodingError(),
}


@pytest.mark.parametrize(
    ('bad', 'page'),
    [
        pytest.param(bad, page, id=f'{what} on page {page + 1}')
        for what, bad in BAD.items()
        for page in range(3)
        if (what, page) != ('a node of another page', 0)  # it is that page
    ],
)
def test_a_listing_that_is_not_whole_is_none(
    agent, ironic, placement, operator, bad, page
):
    agent.done()
    before = operator.holdings()

    ironic.bad[page] = bad
    placement.clear()
    with pytest.raises(errors.AgentError) as raised:
        agent.sync()
    assert '\n' not in str(raised.value)
    assert URL in str(raised.value)
    assert placement.requests == []
    ironic.bad.clear()
    agent.done()
    assert placement.writes == []
    assert operator.holdings() == before


def test_a_cycle_is_one_listing(agent, ironic, placement):
    agent.done()
    ironic.asked.clear()
    placement.clear()
    agent.done()
    assert len(ironic.asked) == 3
    assert [str(r) for r in placement.requests] == ['GET /resource_providers']


def test_one_bad_node_is_that_nodes(agent, ironic, operator):
    agent.done()
    ironic.rows[1]['resource_class'] = None
    ironic.rows[2]['resource_class'] = 'x' * 300
    ironic.rows[3]['traits'] = ['CUSTOM_X', 'not a trait']
    ironic.rows[4]['traits'] = ['CUSTOM_X', 'HW_FROM_TOMORROW']
    ironic.rows[5]['traits'] = ['CUSTOM_Y']
    results = agent.sync()
    assert of(results, 0).status is Status.DONE
    assert 'no resource class' in of(results, 1).reason
    assert '300 characters' in of(results, 2).reason
    assert "'not a trait'" in of(results, 3).reason
    assert of(results, 4).status is Status.DONE
    assert 'HW_FROM_TOMORROW: left out' in of(results, 4).notes[0]
    assert of(results, 5).status is Status.DONE
    for number in (1, 2):
        assert operator.inventories(UUIDS[number])[GOLD]['reserved'] == 1
    for number in (0, 3, 4, 5):
        assert operator.inventories(UUIDS[number])[GOLD]['reserved'] == 0
    assert 'CUSTOM_X' in operator.traits(UUIDS[3])
    assert 'CUSTOM_Y' in operator.traits(UUIDS[5])


def test_a_node_that_is_not_listed_is_gone_only_by_ironics_word(
    agent, ironic, operator
):
    agent.done()
    del ironic.rows[3]
    agent.done()
    assert set(operator.holdings()) == {*UUIDS[:3], *UUIDS[4:]}
    assert any(UUIDS[3] in path for path in ironic.asked)


def test_an_ironic_that_lost_everything_is_not_followed_blindly(
    agent_factory, ironic, operator, placement
):
    agent = agent_factory(
        ironic_driver(URL, api_max_retries=0), max_deletions=3
    )
    agent.done()
    ironic.rows.clear()
    placement.clear()
    results = agent.sync()
    assert {r.status for r in results} == {Status.FAILED}
    assert placement.writes == []
    assert set(operator.holdings()) == set(UUIDS)
