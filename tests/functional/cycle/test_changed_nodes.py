# SPDX-License-Identifier: Apache-2.0
"""A cycle of the nodes that a driver named: few requests, the limits hold."""

import pytest
from keystoneauth1 import exceptions

from compute_agent import errors
from compute_agent.virt.driver import Existence

TEN = {f'1111111{n}-1111-4111-8111-111111111111': f'n{n}' for n in range(10)}
UUIDS = {name: uuid for uuid, name in TEN.items()}
NEW = '99999999-9999-4999-8999-999999999999'
TRAIT = 'CUSTOM_FIRMWARE'


@pytest.fixture
def traits():
    """Node name → the traits that the driver declares."""
    return {name: {TRAIT} for name in UUIDS}


@pytest.fixture
def agent(agent_factory, traits):
    def describe(tree, nodename):
        tree.update_inventory(nodename, {'VCPU': {'total': 1}})
        tree.declare_traits(nodename, *traits.get(nodename, ()))

    made = agent_factory(describe, nodes=TEN, authority=['CUSTOM_*'])
    made.done()
    return made


def changed(agent, *names):
    """Run a cycle of these nodes; return their results by name."""
    results = agent.tracker.sync_changed({'driver': frozenset(names)})
    return {result.node.name: result for result in results}


def sent(placement):
    """Return the requests since the last call, as method and path."""
    lines = [f'{r.method} {r.path}' for r in placement.requests]
    placement.clear()
    return lines


def test_only_the_named_node_is_read_and_written(agent, traits, placement):
    traits['n1'] = {TRAIT, 'HW_CPU_X86_AVX2'}
    traits['n2'] = {TRAIT, 'HW_CPU_X86_SSE'}
    placement.clear()
    found = changed(agent, 'n1')
    root = f'/resource_providers/{UUIDS["n1"]}'
    assert [*found] == ['n1']
    assert found['n1'].is_settled
    assert sent(placement) == [
        f'GET /resource_providers?in_tree={UUIDS["n1"]}',
        f'GET {root}/traits',
        f'PUT {root}/traits',
    ]


def test_a_node_that_did_not_change_costs_one_request(agent, placement):
    placement.clear()
    assert changed(agent, 'n1')['n1'].is_settled
    assert sent(placement) == [
        f'GET /resource_providers?in_tree={UUIDS["n1"]}'
    ]


def test_a_name_of_an_unknown_driver_is_no_node(agent, placement):
    placement.clear()
    assert agent.tracker.sync_changed({'gone': frozenset({'n2'})}) == []
    assert sent(placement) == []


def test_the_others_follow_in_the_next_cycle_of_all(agent, traits, operator):
    traits['n1'] = traits['n2'] = {'HW_CPU_X86_SSE'}
    changed(agent, 'n1')
    assert 'HW_CPU_X86_SSE' in operator.traits(UUIDS['n1'])
    assert 'HW_CPU_X86_SSE' not in operator.traits(UUIDS['n2'])
    agent.done()
    assert 'HW_CPU_X86_SSE' in operator.traits(UUIDS['n2'])


def test_a_new_node_gets_its_root_at_once(agent, traits, operator):
    agent.driver.nodes[NEW] = 'new'
    traits['new'] = {TRAIT}
    assert changed(agent, 'new')['new'].is_settled
    assert TRAIT in operator.traits(NEW)
    assert [r.node.name for r in agent.done()] == [*UUIDS, 'new']


def test_a_new_node_that_no_list_had_departs(agent, traits, placement):
    agent.driver.nodes[NEW] = 'new'
    traits['new'] = {TRAIT}
    changed(agent, 'new')
    del agent.driver.nodes[NEW]
    agent.driver.missing = Existence.NO
    agent.sync()
    assert NEW not in {row['uuid'] for row in providers(placement)}


def providers(placement):
    return placement.get('/resource_providers')['resource_providers']


def test_a_departed_node_waits_for_a_list_of_all(agent, placement):
    del agent.driver.nodes[UUIDS['n1']]
    agent.driver.missing = Existence.NO
    changed(agent, 'n2')
    assert UUIDS['n1'] in {row['uuid'] for row in providers(placement)}
    agent.sync()
    assert UUIDS['n1'] not in {row['uuid'] for row in providers(placement)}


@pytest.mark.catches('removals of single nodes, one after another, are few')
def test_removals_one_after_the_other_are_a_mass_too(agent, traits, operator):
    """More than 20 % of ten nodes, and three at least."""
    for name in ('n1', 'n2', 'n3', 'n4'):
        traits[name] = set()
        found = changed(agent, name)[name]
        assert bool(found.held) is (name > 'n2')
    assert [TRAIT in operator.traits(UUIDS[f'n{n}']) for n in range(6)] == [
        *(True, False, False, True, True, True)
    ]


def test_the_nodes_before_a_cycle_of_all_count_in_it_only(
    agent, traits, operator
):
    """Two lose a trait, a third one in that cycle: more than 20 %."""
    for name in ('n1', 'n2'):
        traits[name] = set()
        changed(agent, name)
    traits['n3'] = set()
    agent.sync()
    assert TRAIT in operator.traits(UUIDS['n3'])
    traits['n3'] = {TRAIT}
    agent.done()
    for name in ('n4', 'n5'):
        traits[name] = set()
        assert not changed(agent, name)[name].held


def test_what_a_person_approved_is_no_part_of_a_mass(agent, traits, operator):
    for name in ('n1', 'n2', 'n3'):
        traits[name] = set()
    agent.sync()
    waits = [r for r in agent.sync() if r.held]
    assert len(waits) == 3
    agent.state.approvals.grant(
        frozenset().union(*(r.held for r in waits)), 'alice'
    )
    changed(agent, 'n1', 'n2', 'n3')
    assert not any(TRAIT in operator.traits(UUIDS[n]) for n in ('n1', 'n2'))
    traits['n4'] = set()
    assert not changed(agent, 'n4')['n4'].held


def test_a_node_fails_alone(agent, traits, placement):
    traits['n1'] = traits['n2'] = {'HW_CPU_X86_SSE'}
    placement.fault(f'PUT */{UUIDS["n1"]}/traits', 400, times=None)
    found = changed(agent, 'n1', 'n2')
    placement.mend()
    assert found['n2'].is_settled
    assert not found['n1'].is_settled


def test_an_outage_is_raised_or_in_the_result(agent, traits, placement):
    placement.fault('GET *', exceptions.ConnectFailure('no'), times=None)
    with pytest.raises(errors.Unavailable):
        changed(agent, 'n1')
    placement.mend()
