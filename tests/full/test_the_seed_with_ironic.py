# SPDX-License-Identifier: Apache-2.0
"""Seed 002, "Testing": the right node on traits alone, from end to end.

Three nodes of one resource class; a request for some traits and against
others; the node that placement offers is told, and Ironic accepts it.
"""

import pytest
import requests
from ironic_agents import ironic_driver

from compute_agent import errors, extra_specs

MASSIVE = 'CUSTOM_MASSIVE_GPU'
REQUEST = {'trait:CUSTOM_X': 'required', f'trait:{MASSIVE}': 'forbidden'}


@pytest.fixture
def nodes(ironic):
    """Three nodes of one class: which traits each has, by uuid."""
    return {
        ironic.available('plain', 'gold', ['HW_CPU_X86_VMX']): 'plain',
        ironic.available('x', 'gold', ['CUSTOM_X', 'HW_CPU_X86_VMX']): 'x',
        ironic.available('both', 'gold', ['CUSTOM_X', MASSIVE]): 'both',
    }


@pytest.fixture
def driver(ironic):
    return ironic_driver(ironic.url)


@pytest.fixture
def agent(agent_factory, driver, nodes):
    agent = agent_factory(driver)
    agent.done()
    return agent


def candidates(placement, required):
    found = placement.get(
        f'/allocation_candidates?resources=CUSTOM_GOLD:1&required={required}'
    )
    return sorted(found['provider_summaries'])


@pytest.mark.usefixtures('agent')
def test_a_request_by_traits_yields_the_right_node_and_ironic_takes_it(
    placement, ironic, driver, nodes
):
    (chosen,) = candidates(placement, f'CUSTOM_X,!{MASSIVE}')
    assert nodes[chosen] == 'x'
    assert len(candidates(placement, 'HW_CPU_X86_VMX')) == 2
    before = ironic.node('x')['instance_info']

    wanted = extra_specs.parse(
        [*REQUEST.items(), ('trait:COMPUTE_IMAGE_TYPE_RAW', 'required')], []
    )
    staged = driver.stage(chosen, wanted)
    assert staged.traits == ('CUSTOM_X',)
    assert staged.placement_only == ('COMPUTE_IMAGE_TYPE_RAW',)
    assert ironic.node('x')['instance_info']['traits'] == ['CUSTOM_X']
    assert ironic.validate('x')['deploy']['result'] is True
    instance = ironic.deploy('x')
    assert ironic.node('x')['provision_state'] == 'active'
    assert ironic.node('x')['instance_uuid'] == instance

    ironic.undeploy('x')  # Ironic takes all of it back with the instance
    assert ironic.node('x')['instance_info'] == before
    assert driver.unstage(chosen).changed is False


@pytest.mark.usefixtures('agent')
def test_what_was_staged_is_taken_back(ironic, driver):
    ironic.patch('x', instance_info={'image_source': 'http://127.0.0.1/i'})
    before = ironic.node('x')['instance_info']
    wanted = extra_specs.parse(
        [*REQUEST.items(), ('capabilities:boot_mode', 'uefi')], []
    )
    assert driver.stage('x', wanted).changed
    assert driver.stage('x', wanted).changed is False
    staged = ironic.node('x')['instance_info']
    assert staged['capabilities'] == '{"boot_mode": "uefi"}'
    assert staged['image_source'] == before['image_source']
    assert driver.unstage('x').changed
    assert ironic.node('x')['instance_info'] == before
    assert driver.unstage('x').changed is False


@pytest.mark.usefixtures('agent')
def test_ironic_refuses_what_is_never_staged(ironic, driver):
    """A trait that only placement has fails the deployment in Ironic."""
    ironic.patch('x', instance_info={'traits': ['COMPUTE_IMAGE_TYPE_RAW']})
    verdicts = ironic.validate('x')
    assert any(
        one['result'] is False and 'COMPUTE_IMAGE_TYPE_RAW' in one['reason']
        for one in verdicts.values()
    )
    wanted = extra_specs.parse(
        [('trait:COMPUTE_IMAGE_TYPE_RAW', 'required')], []
    )
    ironic.patch('x', instance_info={})
    assert driver.stage('x', wanted).traits == ()
    assert 'traits' not in ironic.node('x')['instance_info']


@pytest.mark.usefixtures('agent')
def test_a_node_with_an_instance_is_left_alone(ironic, driver):
    instance = ironic.deploy('x')
    wanted = extra_specs.parse(list(REQUEST.items()), [])
    with pytest.raises(errors.AgentError, match=instance):
        driver.stage('x', wanted)
    assert driver.stage('x', wanted, instance).changed
    assert driver.unstage('x', instance).changed


@pytest.mark.usefixtures('agent')
def test_a_locked_node_is_tried_again_within_bounds(ironic, sent):
    driver = ironic_driver(ironic.url, api_max_retries=2, api_retry_interval=0)
    wanted = extra_specs.parse(list(REQUEST.items()), [])
    ironic.force('x', reservation='another-conductor')
    sent.clear()
    with pytest.raises(errors.Refused, match='locked'):
        driver.stage('x', wanted)
    patches = [r for r in sent if r.startswith('PATCH')]
    assert len(patches) == 3
    ironic.force('x', reservation=None)
    assert driver.stage('x', wanted).changed


@pytest.mark.parametrize(
    'name', ['nobody', 'n\n', '\udcff', '', '..', '11111111', 'x\n']
)
@pytest.mark.usefixtures('nodes')
def test_a_name_that_no_node_has_is_one_line(driver, name):
    wanted = extra_specs.parse(list(REQUEST.items()), [])
    for call in (
        lambda: driver.stage(name, wanted),
        lambda: driver.unstage(name),
    ):
        with pytest.raises(errors.DriverError, match='^Ironic has no node'):
            call()


def test_a_node_is_staged_by_its_uuid_in_any_spelling(ironic, driver):
    spelled = 'AbCdEf01-1111-4111-8111-AbCdEf012345'
    node = ironic.create(uuid=spelled.upper(), name='odd')
    ironic.set_traits('odd', ['CUSTOM_X'])
    ironic.provide('odd')
    wanted = extra_specs.parse(list(REQUEST.items()), [])
    for ident in (spelled.lower(), spelled, spelled.replace('-', '')):
        assert driver.stage(ident, wanted).uuid == spelled.lower()
        assert ironic.node(node['uuid'])['instance_info'] != {}
        assert driver.unstage(ident).changed
    assert ironic.node('odd')['instance_info'] == {}


@pytest.mark.usefixtures('nodes')
def test_a_patch_whose_answer_was_lost_is_done(ironic, monkeypatch):
    driver = ironic_driver(ironic.url, api_max_retries=2, api_retry_interval=0)
    wanted = extra_specs.parse(list(REQUEST.items()), [])
    before = ironic.node('x')['instance_info']
    send = requests.adapters.HTTPAdapter.send
    lost = []

    def lose(self, request, *args, **kwargs):
        answer = send(self, request, *args, **kwargs)
        if request.method == 'PATCH' and not lost:
            lost.append(answer.status_code)
            raise requests.exceptions.ReadTimeout
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, 'send', lose)
    assert driver.stage('x', wanted).changed
    assert lost == [200]
    lost.clear()
    done = driver.unstage('x')
    assert (done.summary, done.traits) == ('taken back', ('CUSTOM_X',))
    assert lost == [200]
    assert ironic.node('x')['instance_info'] == before
