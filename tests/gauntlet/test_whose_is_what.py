# SPDX-License-Identifier: Apache-2.0
"""Others' things stay, ours go when they are over, and what is used is kept."""

import pytest
from gauntlet import CONSUMER, NAME, NODE, OWN, host, verdict

from compute_agent.cycle import resource_tracker
from compute_agent.tree import inventory

OTHER = '44444444-4444-4444-8444-444444444444'
CHILD = '33333333-3333-4333-8333-333333333333'
Status = resource_tracker.Status


def without_the_trait(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node)


# --- traits -------------------------------------------------------------------


@pytest.mark.catches("the driver's traits replace other writers' traits")
def test_a_trait_of_an_operators_stays(bench):
    """A cycle must not take away what somebody else put there."""
    agent = bench.agent(host)
    agent.done()
    bench.operator.add_traits('CUSTOM_OPERATOR', 'STORAGE_DISK_SSD')
    agent.done()
    agent.driver.describe = without_the_trait
    agent.done()
    with verdict():
        assert bench.operator.traits() == {
            *OWN,
            'CUSTOM_OPERATOR',
            'STORAGE_DISK_SSD',
        }


@pytest.mark.catches('nobody remembers who added a trait')
def test_a_trait_of_ours_goes_when_the_driver_drops_it(bench, tmp_path):
    """In the very cycle that drops it, and by a new process as well."""
    bench.agent(host, state=tmp_path).done()
    bench.operator.add_traits('CUSTOM_OPERATOR')
    bench.agent(without_the_trait, state=tmp_path).sync()
    with verdict():
        assert bench.operator.traits() == {*OWN, 'CUSTOM_OPERATOR'}


@pytest.mark.catches('adding a name ends the claims on all others')
def test_a_trait_that_is_added_where_it_is_missing_is_written_once(bench):
    """The body of a nova driver must not write in each cycle."""

    def once(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8}})
        tree.add_traits(node, 'CUSTOM_A')
        if not tree.has_traits(node, ['CUSTOM_ONCE']):
            tree.add_traits(node, 'CUSTOM_ONCE')

    agent = bench.agent(once)
    agent.done()
    bench.placement.clear()
    agent.done()
    agent.done()
    with verdict():
        assert bench.placement.writes == []
        assert bench.operator.traits() == {*OWN, 'CUSTOM_A', 'CUSTOM_ONCE'}


# --- inventories --------------------------------------------------------------


@pytest.mark.catches('a field that is left out stays what it was')
def test_what_a_driver_reserves_no_more_is_free_again(bench):
    """A record without ``reserved`` must not leave the old one standing."""

    def reserving(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 8, 'reserved': 2}})

    agent = bench.agent(reserving)
    agent.done()
    agent.driver.describe = host
    agent.done()
    with verdict():
        assert bench.operator.inventories()['VCPU']['reserved'] == 0


@pytest.mark.catches('an omitted allocation ratio means 1.0')
def test_a_new_total_leaves_the_operators_ratio(bench):
    """A driver without an opinion must not bring the ratio back to 1.0."""

    def larger(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': 9}})

    agent = bench.agent(host, ratios=inventory.Ratios(initial={'VCPU': 4.0}))
    agent.done()
    bench.operator.change_inventory('VCPU', allocation_ratio=2.5)
    agent.driver.describe = larger
    agent.done()
    record = bench.operator.inventories()['VCPU']
    assert record['total'] == 9
    with verdict():
        assert record['allocation_ratio'] == 2.5


@pytest.mark.catches('inventory in use is removed')
def test_a_class_that_goes_while_it_is_used_is_not_to_be_had_again(
    bench,
):
    """It stays for its consumer alone, and the result says for whom."""

    def of_class(rc):
        return lambda tree, node: tree.update_inventory(
            node, {rc: {'total': 4}}
        )

    agent = bench.agent(of_class('CUSTOM_OLD'))
    agent.done()
    bench.operator.allocate(CONSUMER, 'CUSTOM_OLD')
    agent.driver.describe = of_class('CUSTOM_NEW')
    result = agent.cycle()
    with verdict():
        left = bench.operator.inventories()['CUSTOM_OLD']
        assert left['reserved'] == left['total']
        assert result.status is Status.FAILED
        assert CONSUMER in result.reason
    bench.placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert set(bench.operator.inventories()) == {'CUSTOM_NEW'}


# --- names and places ---------------------------------------------------------


def numa(tree, node):
    host(tree, node)
    tree.new_child('numa0', node, OTHER) if not tree.exists(OTHER) else None
    if not tree.exists(CHILD):
        tree.new_child('gpu0', node, CHILD)
    tree.update_inventory(CHILD, {'VGPU': {'total': 4}})


def moved(tree, node):
    host(tree, node)
    if tree.data(CHILD).name == 'gpu0':
        tree.remove(CHILD)
        tree.new_child('gpu0-of-numa0', OTHER, CHILD)
    tree.update_inventory(CHILD, {'VGPU': {'total': 4}})


@pytest.mark.catches('a provider keeps its name and its parent for ever')
def test_a_child_is_renamed_and_moved_with_all_it_has(bench):
    """Its allocations must come along: it is not deleted and made anew."""
    agent = bench.agent(numa)
    agent.done()
    bench.operator.allocate(CONSUMER, 'VGPU', CHILD)
    agent.driver.describe = moved
    bench.placement.clear()
    result = agent.cycle()
    with verdict():
        found = bench.operator.holdings()
        assert 'gpu0-of-numa0' in found, result
        assert found['gpu0-of-numa0']['parent'] == 'numa0'
        assert found['gpu0-of-numa0']['uuid'] == CHILD
        sent = [r.method for r in bench.placement.writes]
        assert {'DELETE', 'POST'}.isdisjoint(sent)
    used = bench.placement.get(f'/allocations/{CONSUMER}')
    assert set(used['allocations']) == {CHILD}


@pytest.mark.catches('a name that is taken is said, but not by whom')
def test_a_host_installed_anew_is_told_who_has_its_name(bench):
    """Its old provider must be named with what to do, and nothing written."""
    bench.operator.create(OTHER, NAME)
    result = bench.agent(host).cycle()
    assert result.status is Status.FAILED
    assert bench.placement.writes == []
    with verdict():
        assert OTHER in result.reason
        assert NODE in result.reason
