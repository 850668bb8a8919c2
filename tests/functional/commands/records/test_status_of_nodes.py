# SPDX-License-Identifier: Apache-2.0
"""``status`` says in words what keeps a node from being done."""

import json
import time

import pytest
from agents import Driver

ONE, TWO, THREE = (f'{n:08}-1111-4111-8111-111111111111' for n in (1, 2, 3))
NODES = {ONE: 'node-1', TWO: 'node-2', THREE: 'node-3'}
AVX = 'HW_CPU_X86_AVX'


def describe(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.add_traits(node, AVX)


@pytest.fixture
def agent(agent_factory, tmp_path):
    return agent_factory(
        Driver(describe, nodes=NODES),
        clock=time.time,
        state=tmp_path / 'state',
    )


def test_an_open_circuit_breaker_is_told_until_it_closes(
    agent, running, commands, placement
):
    one = running(agent)
    agent.driver.describe = lambda tree, node: tree.update_inventory(
        node, {'VCPU': {'total': 9}}
    )
    placement.fault('PUT /resource_providers/*', 500, times=None)
    one.cycle()
    said = commands('status').out
    assert '\noutage for ' in said
    assert (
        '\nthe circuit breaker is open, so no write is sent: placement answers '
        '500 for 3 providers in a row'
    ) in said
    placement.mend()
    one.cycle()
    said = commands('status').out
    assert 'breaker' not in said
    assert 'outage' not in said
    assert '3 nodes: 3 done' in said


def test_a_refused_operation_has_the_moment_of_its_next_try(
    agent, running, commands, placement
):
    one = running(agent)
    agent.driver.describe = lambda tree, node: tree.add_traits(
        node, 'CUSTOM_NEW'
    )
    placement.fault(f'PUT /resource_providers/{TWO}/traits', 400, times=None)
    one.cycle()
    said = commands('status').out
    assert f'  node-1 ({ONE}): done; last done ' in said
    assert f'  node-2 ({TWO}): failed: ' in said
    assert 'refused operations are tried again in the first cycle after' in (
        said
    )
    data = json.loads(commands('status', '-f', 'json').out)['nodes'][1]
    assert data['again'] is not None
    assert data['again_in'] >= 0
    assert data['done_age'] > 0  # from the cycle before
    whole = commands('status', 'node-2').out
    assert '    planned and not made: set traits of node-2' in whole


def test_contended_items_are_told(agent, running, commands, operator):
    one = running(agent)
    for _ in range(4):
        operator.remove_traits(AVX, uuid=TWO)
        one.cycle()
    assert '    1 contended item\n' in commands('status').out
    whole = commands('status', TWO.upper()).out
    assert (
        f'    contended: trait {AVX} of node-2 ({TWO}) is contended' in whole
    )
    assert 'node-1' not in whole
