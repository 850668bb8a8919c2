# SPDX-License-Identifier: Apache-2.0
"""An Ironic that answers badly: nothing is removed, and each node is said."""

import json
import re
from urllib import parse

import pytest
import requests
import requests_mock
from ironic_agents import ironic_driver

from compute_agent import errors
from compute_agent.cycle import resource_tracker

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
    """An Ironic of the test's making, two nodes a page.

    :ivar hidden: the nodes that it has and does not list
    :ivar bad_node: what it answers in place of any one node
    """

    def __init__(self, mock):
        self.rows = [row(uuid) for uuid in UUIDS]
        self.bad = {}
        self.bad_node = None
        self.hidden = set()
        self.asked = []
        mock.get(f'{URL}/v1/nodes', content=self._page)
        mock.get(re.compile(f'{URL}/v1/nodes/.+'), content=self._node)

    def _page(self, request, context):
        self.asked.append(request.path_url)
        context.headers['Content-Type'] = 'application/json'
        query = parse.parse_qs(parse.urlsplit(request.url).query)
        marker = query.get('marker', [None])[0]
        rows = [r for r in self.rows if r['uuid'] not in self.hidden]
        uuids = [one['uuid'] for one in rows]
        first = uuids.index(marker) + 1 if marker else 0
        if (bad := self.bad.get(first // 2)) is not None:
            if isinstance(bad, Exception):
                raise bad
            return bad
        page = {'nodes': rows[first : first + 2]}
        if first + 2 < len(uuids):
            page['next'] = f'{URL}/v1/nodes?marker={uuids[first + 1]}'
        return json.dumps(page).encode()

    def _node(self, request, context):
        self.asked.append(request.path_url)
        context.headers['Content-Type'] = 'application/json'
        if isinstance(self.bad_node, Exception):
            raise self.bad_node
        if self.bad_node is not None:
            return self.bad_node
        path = parse.urlsplit(request.url).path
        uuid = parse.unquote(path.rsplit('/', 1)[1])
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


@pytest.mark.long_except(every=4)
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
    ironic.rows[3]['traits'] = ['CUSTOM_X', 'not a trait', 'CUSTOM_X\n']
    ironic.rows[3]['maintenance'] = True
    ironic.rows[4]['traits'] = ['CUSTOM_X', 'HW_FROM_TOMORROW']
    ironic.rows[5]['traits'] = ['CUSTOM_Y']
    results = agent.sync()
    assert of(results, 0).status is Status.DONE
    assert 'no resource class' in of(results, 1).reason
    assert '300 characters' in of(results, 2).reason
    assert of(results, 3).status is Status.DONE
    assert "'CUSTOM_X\\n' in Ironic, which is left" in of(results, 3).notes[0]
    assert "'not a trait' in Ironic, which is left" in of(results, 3).notes[1]
    assert of(results, 4).status is Status.DONE
    assert 'HW_FROM_TOMORROW: left out' in of(results, 4).notes[0]
    assert of(results, 5).status is Status.DONE
    for number in (1, 2, 3):
        assert operator.inventories(UUIDS[number])[GOLD]['reserved'] == 1
    for number in (0, 4, 5):
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
    asked = {path for path in ironic.asked if path.startswith('/v1/nodes/')}
    assert asked == {f'/v1/nodes/{UUIDS[3]}?fields=uuid'}


def test_a_living_node_in_another_spelling_is_never_taken_for_gone(
    agent, ironic, operator, placement
):
    odd = f'{{{UUIDS[3].upper()}}}'
    ironic.rows[3]['uuid'] = odd
    agent.done()
    there = operator.holdings()
    assert there[odd]['uuid'] == UUIDS[3]
    assert len(there) == len(UUIDS)
    ironic.hidden = {odd}  # in another shard now
    placement.clear()
    results = agent.done()
    assert 'nothing of it is removed' in of(results, 3).notes[0]
    assert placement.writes == []
    assert operator.holdings() == there
    assert f'/v1/nodes/{parse.quote(odd)}?fields=uuid' in ironic.asked


def test_nodes_that_cannot_be_told_apart_stay_and_the_others_go_on(
    agent, ironic, operator, placement, caplog
):
    agent.done()
    ironic.rows.insert(0, row(f'{{{UUIDS[3]}}}', resource_class='silver'))
    ironic.rows.append(row('no-uuid'))
    ironic.rows[1]['traits'] = ['CUSTOM_Y']
    for _ in range(2):
        results = agent.done()
    assert 'CUSTOM_Y' in operator.traits(UUIDS[0])
    assert set(operator.holdings()) == set(UUIDS)
    assert set(operator.inventories(UUIDS[3])) == {GOLD}
    assert of(results, 3).status is Status.LEFT
    ironic.rows = ironic.rows[1:-1]
    placement.clear()
    assert len(agent.done()) == len(UUIDS)
    assert placement.writes == []
    said = [r for r in caplog.records if r.name == 'drivers.ironic.driver']
    assert len(said) == 1


@pytest.mark.parametrize(
    'bad', [requests.exceptions.ConnectionError(), b'{}', b'<html>busy</html>']
)
def test_a_node_of_which_ironic_says_nothing_clear_stays_with_the_reason(
    agent, ironic, operator, bad
):
    agent.done()
    ironic.hidden = set(UUIDS[3:5])
    ironic.bad_node = bad
    results = agent.sync()
    for number in (3, 4):
        reason = of(results, number).reason
        assert 'whether it still exists cannot be told' in reason
        assert f'Ironic at {URL}' in reason
    assert set(operator.holdings()) == set(UUIDS)
    is_outage = isinstance(bad, Exception)
    asked = [p for p in ironic.asked if p.startswith('/v1/nodes/')]
    assert len(asked) == (1 if is_outage else 2)


def test_an_ironic_that_lost_everything_is_not_followed_blindly(
    agent_factory, ironic, operator, placement
):
    agent = agent_factory(ironic_driver(URL, api_max_retries=0))
    agent.done()
    ironic.rows.clear()
    placement.clear()
    results = agent.sync()
    assert {r.status for r in results} == {Status.WAITING}
    assert placement.writes == []
    assert set(operator.holdings()) == set(UUIDS)


# --- nodes that are deleted in Ironic ------------------------------------------


def candidates(placement):
    """Return the nodes on which something can be placed."""
    found = placement.get('/allocation_candidates?resources=CUSTOM_GOLD:1')
    return set(found['provider_summaries'])


@pytest.mark.parametrize(
    ('count', 'deleted'),
    [(40, 10), pytest.param(600, 150, marks=pytest.mark.long)],
)
@pytest.mark.catches('a departed node stays on offer until somebody agrees')
def test_nodes_deleted_at_once_are_no_candidates_after_one_cycle(
    agent, ironic, placement, operator, count, deleted
):
    uuids = [f'{n:08}{UUIDS[0][8:]}' for n in range(count)]
    ironic.rows = [row(uuid) for uuid in uuids]
    agent.done()
    assert candidates(placement) == set(uuids)
    ironic.rows = ironic.rows[deleted:]
    results = agent.sync()
    assert candidates(placement) == set(uuids[deleted:])
    held = [r for r in results if r.held]
    assert {r.node.uuid for r in held} == set(uuids[:deleted])
    assert len(operator.holdings()) == count
    agent.sync()  # the reserved inventory is another generation
    placement.clear()
    agent.sync()
    assert [r.method for r in placement.requests] == ['GET']


def test_the_nodes_of_another_ironic_change_nothing_of_ours(
    agent, ironic, placement, operator
):
    agent.done()
    before = candidates(placement)
    ironic.rows = [row(f'{n * 8}{UUIDS[0][8:]}') for n in '789']
    for _ in range(2):
        agent.sync()
        assert candidates(placement) >= before
