# SPDX-License-Identifier: Apache-2.0
"""Bodies of nova's drivers run over many cycles and converge as in nova."""

import itertools
import threading

import agents
import pytest

from compute_agent.cycle import resource_tracker, service
from compute_agent.tree.assertion import DRIVER, Kind

NODE = agents.NODE
OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
VCPU = {'VCPU': {'total': 8}}


def once(tree, node):
    """Add a trait and an aggregate only where they are missing."""
    tree.update_inventory(node, VCPU)
    tree.add_traits(node, 'CUSTOM_A')
    if not tree.has_traits(node, ['CUSTOM_ONCE']):
        tree.add_traits(node, 'CUSTOM_ONCE')
    if not tree.in_aggregates(node, [AGGREGATE]):
        tree.add_aggregates(node, AGGREGATE)


def test_what_is_added_only_if_missing_is_written_once(
    agent_factory, operator, placement
):
    agent = agent_factory(once)
    agent.done()
    placement.clear()
    for _ in range(3):
        agent.done()
    assert placement.writes == []
    assert operator.traits() == {*OWN, 'CUSTOM_A', 'CUSTOM_ONCE'}
    assert operator.aggregates() == {AGGREGATE}


def test_what_an_operator_removes_is_restored_by_the_same_body(
    agent_factory, operator
):
    agent = agent_factory(once)
    agent.done()
    operator.remove_traits('CUSTOM_ONCE', 'CUSTOM_A')
    operator.set_aggregates()
    (result,) = agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A', 'CUSTOM_ONCE'}
    assert operator.aggregates() == {AGGREGATE}
    assert any('restored: CUSTOM_A, CUSTOM_ONCE' in n for n in result.notes)


def test_removing_one_trait_takes_no_other_with_it(agent_factory, operator):
    def adding(tree, node):
        tree.update_inventory(node, VCPU)
        tree.add_traits(node, 'CUSTOM_X1', 'CUSTOM_X2')

    def removing(tree, node):
        tree.update_inventory(node, VCPU)
        tree.remove_traits(node, 'CUSTOM_X1')

    agent = agent_factory(adding)
    agent.done()
    agent.driver.describe = removing
    for _ in range(2):
        agent.done()
        assert operator.traits() == {*OWN, 'CUSTOM_X2'}


def test_what_was_added_once_is_left_gone_when_an_operator_removes_it(
    agent_factory, operator, placement
):
    def inventory_alone(tree, node):
        tree.update_inventory(node, VCPU)

    agent = agent_factory(once)
    agent.done()
    agent.driver.describe = inventory_alone
    agent.done()
    assert operator.traits() == {*OWN, 'CUSTOM_A', 'CUSTOM_ONCE'}
    operator.remove_traits('CUSTOM_A')
    placement.clear()
    agent.done()
    agent.done()
    assert placement.writes == []
    record = agent.state.records.record([NODE], NODE)
    assert record.claims[NODE, Kind.TRAIT][DRIVER] == {'CUSTOM_ONCE'}


@pytest.mark.parametrize('ended_by', ['declare', 'update'])
def test_a_whole_list_ends_what_additions_claimed(
    agent_factory, operator, ended_by
):
    def whole(tree, node):
        tree.update_inventory(node, VCPU)
        if ended_by == 'declare':
            tree.declare_traits(node, 'CUSTOM_B')
        else:
            tree.update_traits(node, ['CUSTOM_B'])

    agent = agent_factory(once)
    agent.done()
    operator.add_traits('CUSTOM_OPERATOR')
    agent.driver.describe = whole
    agent.done()
    left = {'CUSTOM_OPERATOR'} if ended_by == 'declare' else set()
    assert operator.traits() == {*OWN, 'CUSTOM_B', *left}


def test_a_driver_that_only_adds_removes_nothing_by_its_authority(
    agent_factory, operator
):
    operator.create(NODE, agents.NAME)
    operator.add_traits('HW_CPU_X86_AVX', 'CUSTOM_OPERATOR')

    def adding(tree, node):
        tree.update_inventory(node, VCPU)
        tree.add_traits(node, 'HW_CPU_X86_AVX2')

    def declaring(tree, node):
        tree.update_inventory(node, VCPU)
        tree.declare_traits(node, 'HW_CPU_X86_AVX2')

    agent = agent_factory(adding, authority=['HW_CPU_*'])
    agent.done()
    assert operator.traits() >= {'HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2'}
    agent.driver.describe = declaring
    agent.done()
    assert operator.traits() == {*OWN, 'HW_CPU_X86_AVX2', 'CUSTOM_OPERATOR'}


class HalfWay(agents.Driver):
    """Edits the tree and then leaves the node to the older methods."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(nodename, {'DISK_GB': {'total': 9}})
        provider_tree.add_traits(nodename, 'CUSTOM_HALF')
        provider_tree.new_child('half', nodename)
        raise NotImplementedError

    def get_inventory(self, nodename):
        return VCPU

    def get_traits(self, nodename):
        return ['HW_CPU_X86_AVX']


def test_edits_before_the_older_methods_do_not_reach_placement(
    agent_factory, operator
):
    agent = agent_factory(HalfWay(None))
    agent.done()
    (held,) = operator.holdings().values()
    assert held['traits'] == {*OWN, 'HW_CPU_X86_AVX'}
    assert set(held['inventories']) == {'VCPU'}


def test_names_recorded_by_the_release_before_still_go(
    agent_factory, operator, tmp_path
):
    """Its add_traits recorded the claims that declare_traits records now."""

    def told(tree, node):
        tree.update_inventory(node, VCPU)
        tree.add_traits(node, 'CUSTOM_A', 'CUSTOM_DROPPED')
        tree.add_aggregates(node, AGGREGATE)

    def declaring(tree, node):
        tree.update_inventory(node, VCPU)
        tree.declare_traits(node, 'CUSTOM_A')
        tree.declare_aggregates(node)

    agent_factory(told, state=tmp_path).done()
    agent = agent_factory(declaring, state=tmp_path)
    (result,) = agent.done()
    assert result.status is resource_tracker.Status.DONE
    assert operator.traits() == {*OWN, 'CUSTOM_A'}
    assert operator.aggregates() == set()


def test_a_driver_that_undoes_its_own_report_is_named_once(
    agent_factory, operator, caplog
):
    """It reports the trait only while the provider lacks it."""

    def contradictory(tree, node):
        tree.update_inventory(node, VCPU)
        if tree.has_traits(node, ['CUSTOM_A']):
            tree.remove_traits(node, 'CUSTOM_A')
        else:
            tree.add_traits(node, 'CUSTOM_A')

    (line,) = warnings_of(agent_factory(contradictory), caplog)
    assert line == (
        f'{agents.NAME} ({NODE}): the driver reports trait CUSTOM_A in one '
        'cycle and not in the next: the agent undid its own write of the '
        'cycle before 3 times in a row; the driver must report it in every '
        'cycle or in none'
    )
    assert 'contended' not in caplog.text


def test_a_driver_that_reports_two_amounts_in_turn_is_named_once(
    agent_factory, caplog
):
    amounts = itertools.cycle([64, 65])

    def swaying(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': next(amounts)}})

    (line,) = warnings_of(agent_factory(swaying), caplog)
    assert line.startswith(
        f'{agents.NAME} ({NODE}): the driver reports inventory VCPU with one '
        'amount in one cycle and with another in the next'
    )


def warnings_of(agent, caplog):
    """Return the warnings about the driver in nine cycles of the daemon."""
    cycles = iter(range(9))
    stop = threading.Event()

    def cycle():
        if next(cycles) == 8:
            stop.set()
        return agent.sync()

    service.Service(cycle, interval=0.001, stop=stop).run()
    lines = [r.getMessage() for r in caplog.records]
    return [line for line in lines if 'the driver must report' in line]
