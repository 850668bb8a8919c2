# SPDX-License-Identifier: Apache-2.0
"""Bare-metal nodes: what Ironic is asked for, told, and believed.

White-box: the weak variants replace private functions of the driver.
"""

import json
import re
from urllib import parse

import ironic_agents
import pytest
import requests_mock
from gauntlet import verdict

from compute_agent import errors, extra_specs

URL = 'http://127.0.0.1:6385'
UUID = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'


class Ironic:
    """One that answers with the fields it is asked for.

    :ivar asked: the paths with their queries
    """

    def __init__(self, mock, count=1):
        self.rows = {
            UUID[:-2] + f'{n:02}': {
                'name': f'rack1-node{n}',
                'resource_class': 'gold',
                'traits': ['CUSTOM_NVME'],
                'power_state': 'power off',
                'provision_state': 'available',
                'maintenance': False,
                'instance_uuid': None,
                'instance_info': {},
                'properties': {'cpus': 64},
            }
            for n in range(count)
        }
        self.asked = []
        for paths, answer in (('([?]|$)', self._list), ('/.+', self._one)):
            mock.register_uri(
                requests_mock.ANY,
                re.compile(f'{URL}/v1/nodes{paths}'),
                headers={'Content-Type': 'application/json'},
                json=answer,
            )

    @property
    def uuid(self):
        return next(iter(self.rows))

    def _list(self, request, _context):
        self.asked.append(request.path_url)
        query = _query(request)
        uuids = list(self.rows)
        marker = query.get('marker')
        first = uuids.index(marker) + 1 if marker else 0
        some = uuids[first : first + int(query.get('limit', 1000))]
        body = {'nodes': [self._row(uuid, query['fields']) for uuid in some]}
        if uuids[first + len(some) :]:
            body['next'] = f'{URL}/v1/nodes?marker={some[-1]}'
        return body

    def _one(self, request, _context):
        uuid = parse.urlsplit(request.url).path.rsplit('/', 1)[1]
        if request.method == 'PATCH':
            info = self.rows[uuid]['instance_info']
            for one in json.loads(request.text):
                info[one['path'].rsplit('/', 1)[1]] = one['value']
            return {'uuid': uuid}
        return self._row(uuid, _query(request)['fields'])

    def _row(self, uuid, fields):
        row = {'uuid': uuid, **self.rows[uuid]}
        return {field: row.get(field) for field in fields.split(',')}


def _query(request):
    return dict(parse.parse_qsl(parse.urlsplit(request.url).query))


# --- the listing --------------------------------------------------------------


@pytest.mark.catches('whole nodes are listed')
def test_a_cycle_asks_ironic_for_what_it_needs_in_one_request(bench):
    """No node's properties are paid for, and no node is asked for alone."""
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock, count=5)
        agent = bench.agent(ironic_agents.ironic_driver(URL))
        agent.done()
        del ironic.asked[:]
        agent.done()
    with verdict():
        (path,) = ironic.asked
        fields = _asked_fields(path)
        assert fields == {
            'uuid',
            'name',
            'resource_class',
            'traits',
            'power_state',
            'provision_state',
            'maintenance',
            'instance_uuid',
        }
        assert 'limit=' in path


def _asked_fields(path):
    query = dict(parse.parse_qsl(parse.urlsplit(path).query))
    return set(query['fields'].split(','))


# --- traits -------------------------------------------------------------------


@pytest.mark.catches('a trait too many is noticed later')
def test_ironic_decides_a_nodes_traits_in_the_next_cycle(bench):
    """Where Ironic is the only source, a stray trait must not live on."""
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock)
        agent = bench.agent(ironic_agents.ironic_driver(URL))
        agent.done()
        bench.operator.add_traits('CUSTOM_OPERATOR', uuid=ironic.uuid)
        agent.done()
    with verdict():
        found = bench.operator.traits(ironic.uuid)
        assert 'CUSTOM_OPERATOR' not in found
    assert 'CUSTOM_NVME' in found


@pytest.mark.catches("Ironic's traits are a node's only ones")
def test_an_operators_trait_on_a_shared_node_stays(bench):
    """Where the traits are shared, Ironic's come and go beside others'."""
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock)
        driver = ironic_agents.ironic_driver(URL, trait_ownership='merge')
        agent = bench.agent(driver)
        agent.done()
        bench.operator.add_traits('CUSTOM_OPERATOR', uuid=ironic.uuid)
        ironic.rows[ironic.uuid]['traits'] = ['CUSTOM_SSD']
        agent.done()
    found = bench.operator.traits(ironic.uuid)
    assert 'CUSTOM_SSD' in found
    assert 'CUSTOM_NVME' not in found
    with verdict():
        assert 'CUSTOM_OPERATOR' in found


# --- the resource class -------------------------------------------------------


@pytest.mark.catches('a node without a class stays to be had')
def test_a_node_that_lost_its_class_is_not_scheduled_to(bench):
    """Its old inventory must not stand open, and the operator is told."""
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock)
        agent = bench.agent(ironic_agents.ironic_driver(URL))
        agent.done()
        ironic.rows[ironic.uuid]['resource_class'] = None
        (result,) = agent.sync()
    with verdict():
        path = '/allocation_candidates?resources=CUSTOM_GOLD:1'
        found = bench.placement.get(path)['allocation_requests']
        assert found == []
        assert 'rack1-node0' in result.reason
        assert 'no resource class' in result.reason


# --- requested traits ---------------------------------------------------------


@pytest.mark.catches('a node is told traits that only placement has')
def test_a_node_is_told_no_trait_that_ironic_would_refuse():
    """A trait that only placement has must not make the deployment fail."""
    wanted = extra_specs.parse(
        [
            ('trait:CUSTOM_NVME', 'required'),
            ('trait:COMPUTE_NODE', 'required'),
        ]
    )
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock)
        driver = ironic_agents.ironic_driver(URL)
        report = driver.stage(ironic.uuid, wanted)
        told = ironic.rows[ironic.uuid]['instance_info']['traits']
    with verdict():
        assert told == ['CUSTOM_NVME']
        assert report.placement_only == ('COMPUTE_NODE',)


@pytest.mark.catches('a trait that no source gives is staged')
def test_a_trait_that_the_node_has_nowhere_is_refused():
    """The earlier staging stays, for the request was not carried out."""
    nvme, typo = (
        (f'trait:{name}', 'required')
        for name in ('CUSTOM_NVME', 'CUSTOM_TYPO')
    )
    first = extra_specs.parse([nvme])
    second = extra_specs.parse([nvme, typo])
    with requests_mock.Mocker(real_http=True) as mock:
        ironic = Ironic(mock)
        driver = ironic_agents.ironic_driver(URL)
        driver.stage(ironic.uuid, first)
        said = ''
        try:
            driver.stage(ironic.uuid, second)
        except errors.Refused as exc:
            said = str(exc)
        with verdict():
            assert 'CUSTOM_TYPO' in said
            info = ironic.rows[ironic.uuid]['instance_info']
            assert info['traits'] == ['CUSTOM_NVME']
        shared = ironic_agents.ironic_driver(URL, trait_ownership='merge')
        report = shared.stage(ironic.uuid, second)
    with verdict():
        assert report.placement_only == ('CUSTOM_TYPO',)
