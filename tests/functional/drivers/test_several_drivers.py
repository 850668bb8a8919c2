# SPDX-License-Identifier: Apache-2.0
"""Several drivers in one agent: one tree for a node, and each keeps its own.

The first driver describes the root, the second adds to the tree.
"""

import pytest
from agents import NAME, NODE, Driver, sent

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.ownership import policy
from compute_agent.tree.assertion import Kind
from compute_agent.virt import driver as virt
from compute_agent.virt.drivers import Drivers

Status = resource_tracker.Status
AVX = 'HW_CPU_X86_AVX'
SSE = 'HW_CPU_X86_SSE'
OTHER = '22222222-2222-4222-8222-222222222222'
AGGREGATE = '33333333-3333-4333-8333-333333333333'


def host(*traits, vcpus=8):
    """Return the description of a host."""

    def describe(tree, node):
        tree.update_inventory(node, {'VCPU': {'total': vcpus}})
        tree.declare_traits(node, *traits)

    return describe


def extra(*traits, nic=('CUSTOM_NIC',)):
    """Return the description of what a second driver adds to a host."""

    def describe(tree, node):
        tree.declare_traits(node, *traits)
        tree.declare_inventory(node, {'CUSTOM_TOKEN': {'total': 3}})
        name = 'nic' if node == NAME else f'nic of {node}'
        if not tree.exists(name):
            tree.new_child(name, node)
        tree.declare_traits(name, *nic)
        tree.declare_inventory(name, {'SRIOV_NET_VF': {'total': 4}})

    return describe


def failing(tree, node):
    """A description that fails in the middle."""
    tree.declare_traits(node, 'CUSTOM_HALF')
    tree.remove('nic')
    raise RuntimeError('the card does not answer')


class Pair:
    """An agent with two drivers, ``a`` and ``b``."""

    def __init__(self, agent_factory, first, second, **how):
        self.a = first if isinstance(first, Driver) else Driver(first)
        self.b = second if isinstance(second, Driver) else Driver(second)
        self.agent = agent_factory(Drivers({'a': self.a, 'b': self.b}), **how)

    def cycle(self):
        return self.agent.cycle()

    def done(self):
        (result,) = self.agent.done()
        return result

    def claimed(self, kind=Kind.TRAIT, uuid=NODE):
        record = self.agent.state.records.record([uuid], NODE)
        found = record.claims[uuid, kind]
        return {source: set(names) for source, names in found.items() if names}


def removed(result):
    """Return the cause of each removal by name; '' for a provider."""
    return {
        change.name: str(change.cause)
        for op in result.applied
        for change in op.changes()
        if change.is_removal and change.cause is not None
    }


@pytest.fixture
def pair(agent_factory):
    return lambda first, second, **how: Pair(
        agent_factory, first, second, **how
    )


def test_two_drivers_describe_one_tree_and_each_claims_its_own(pair, operator):
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    tree = operator.holdings()
    assert tree[NAME]['traits'] >= {AVX, 'CUSTOM_RACK', 'COMPUTE_NODE'}
    assert set(tree[NAME]['inventories']) == {'VCPU', 'CUSTOM_TOKEN'}
    assert tree['nic']['parent'] == NAME
    assert tree['nic']['traits'] == {'CUSTOM_NIC', 'OWNER_NOVA'}
    assert both.claimed() == {
        'driver:a': {AVX},
        'driver:b': {'CUSTOM_RACK'},
        'agent': {'COMPUTE_NODE', 'OWNER_NOVA'},
    }


def test_a_steady_cycle_of_two_drivers_sends_one_request(pair, placement):
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    both.done()
    placement.clear()
    both.done()
    assert sent(placement) == [f'GET /resource_providers?in_tree={NAME}']


def test_a_driver_that_reports_less_loses_only_its_own(pair, operator):
    both = pair(host(AVX, 'CUSTOM_A'), extra('CUSTOM_RACK', 'CUSTOM_A'))
    both.done()
    both.a.describe = host()
    result = both.done()
    assert removed(result) == {AVX: 'driver a no longer reports it'}
    assert operator.traits() >= {'CUSTOM_A', 'CUSTOM_RACK'}


# --- a driver that fails ------------------------------------------------------


@pytest.mark.catches("a failing driver's names are removed")
def test_a_driver_that_fails_holds_its_own_and_nothing_else(pair, operator):
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    before = operator.holdings()
    both.b.describe = failing
    both.a.describe = host(SSE, vcpus=16)
    result = both.cycle()
    after = operator.holdings()
    assert after['nic'] == before['nic']
    traits = (before[NAME]['traits'] | {SSE}) - {AVX}
    assert after[NAME]['traits'] == traits
    inventories = after[NAME]['inventories']
    assert inventories['VCPU']['total'] == 16
    assert (
        inventories['CUSTOM_TOKEN']
        == (before[NAME]['inventories']['CUSTOM_TOKEN'])
    )
    assert result.status is Status.FAILED
    assert result.reason.startswith('driver b: Driver failed for node-1')
    assert 'the card does not answer' in result.reason
    assert 'the changes of the other drivers are made' in result.reason
    both.b.describe = extra()
    assert removed(both.done()) == {
        'CUSTOM_RACK': 'driver b no longer reports it'
    }


def test_a_failure_costs_no_request_and_is_over_with_the_next_success(
    pair, placement
):
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    both.b.describe = failing
    both.cycle()
    placement.clear()
    assert both.cycle().status is Status.FAILED
    assert sent(placement) == [f'GET /resource_providers?in_tree={NAME}']
    both.b.describe = extra('CUSTOM_RACK')
    assert both.done().applied == ()


def test_the_second_driver_goes_on_if_the_first_fails(pair, operator):
    both = pair(host(AVX), extra())
    both.done()
    both.a.describe = failing
    both.b.describe = extra('CUSTOM_RACK')
    assert both.cycle().status is Status.FAILED
    assert operator.traits() >= {AVX, 'CUSTOM_RACK'}
    assert operator.inventories()['VCPU']['total'] == 8


@pytest.mark.parametrize('how', ['description', 'list'])
def test_no_root_is_created_if_the_first_driver_fails(
    pair, placement, monkeypatch, how
):
    both = pair(host(AVX), extra())
    if how == 'list':
        monkeypatch.setattr(both.a, 'get_available_nodes', away)
    else:
        both.a.describe = failing
    result = both.cycle()
    assert result.status is Status.FAILED
    assert result.reason.startswith('driver a: ')
    assert placement.writes == []


def test_a_node_that_no_driver_can_describe_names_them_all(pair, operator):
    both = pair(host(AVX), extra())
    both.done()
    before = operator.holdings()
    both.a.describe = both.b.describe = failing
    result = both.cycle()
    assert result.plan is None
    assert 'driver a: ' in result.reason
    assert 'driver b: ' in result.reason
    assert operator.holdings() == before


def test_a_driver_with_a_wrong_authority_fails_alone(pair, operator):
    both = pair(host(AVX), Driver(extra('CUSTOM_RACK'), authority='HW_*'))
    result = both.cycle()
    assert 'driver b: authority' in result.reason
    assert AVX in operator.traits()
    assert 'CUSTOM_RACK' not in operator.traits()


def test_a_driver_without_the_method_discards_only_its_own_edits(
    pair, operator, monkeypatch
):
    both = pair(host(AVX), host())

    def old(tree, node, allocations=None):
        tree.declare_traits(node, 'CUSTOM_DISCARDED')
        raise NotImplementedError

    records = {'CUSTOM_TOKEN': {'total': 1}}
    monkeypatch.setattr(both.b, 'update_provider_tree', old)
    monkeypatch.setattr(both.b, 'get_inventory', lambda _: records)
    monkeypatch.setattr(both.b, 'get_traits', lambda _: ['CUSTOM_OLD'])
    both.a.describe = lambda tree, node: tree.declare_traits(node, AVX)
    both.done()
    assert both.claimed() == {
        'driver:a': {AVX},
        'driver:b': {'CUSTOM_OLD'},
        'agent': {'COMPUTE_NODE', 'OWNER_NOVA'},
    }
    assert set(operator.inventories()) == {'CUSTOM_TOKEN'}


# --- authority, removals and disputes -----------------------------------------


@pytest.mark.catches(
    'the authority of one driver applies where another speaks'
)
def test_authority_is_each_driver_s_alone(pair, operator):
    both = pair(
        Driver(host(AVX), authority=['HW_CPU_*']),
        Driver(extra('HW_GPU_API_VULKAN')),
    )
    both.done()
    nic = operator.holdings()['nic']['uuid']
    operator.add_traits(SSE, uuid=nic)  # a says nothing about the card
    operator.add_traits(SSE)
    both.done()
    assert SSE in operator.traits(nic)
    assert SSE not in operator.traits()


def test_no_authority_removes_what_another_driver_reports(pair, operator):
    both = pair(
        Driver(host(), authority=['HW_CPU_*']), Driver(extra(AVX, SSE))
    )
    both.done()
    both.b.describe = failing
    both.cycle()
    assert operator.traits() >= {AVX, SSE}


def test_a_driver_cannot_remove_a_provider_of_another(pair, operator):
    both = pair(host(AVX), extra())
    both.done()
    both.a.describe = lambda tree, node: (
        tree.declare_traits(node, SSE),
        tree.remove('nic'),
    )
    both.b.describe = extra('CUSTOM_RACK')
    result = both.cycle()
    assert result.reason.startswith('driver a: Driver removed or replaced nic')
    assert 'driver b reports something' in result.reason
    assert operator.traits() >= {AVX, 'CUSTOM_RACK'}
    assert 'nic' in operator.holdings()


def test_two_complete_lists_of_one_provider_are_written_neither(
    pair, operator
):
    def whole(*traits):
        return lambda tree, node: (
            tree.update_traits(node, traits),
            tree.update_aggregates(node, [AGGREGATE]),
        )

    both = pair(whole(AVX), lambda _tree, _node: None)
    both.done()
    both.b.describe = whole(SSE)
    result = both.cycle()
    assert result.status is Status.FAILED
    assert result.reason.startswith(
        f'{NAME} ({NODE}): driver a and driver b each give the complete list '
        'of its traits'
    )
    assert operator.traits() >= {AVX}
    assert SSE not in operator.traits()
    assert operator.aggregates() == {AGGREGATE}  # the lists are alike
    assert both.cycle().reason == result.reason
    both.b.describe = lambda tree, node: tree.declare_traits(node, SSE)
    both.done()
    assert operator.traits() >= {AVX, SSE}


def test_two_amounts_of_one_class_are_written_neither(pair, operator):
    both = pair(host(), extra())
    both.done()
    both.b.describe = lambda tree, node: tree.declare_inventory(
        node, {'VCPU': {'total': 2}, 'CUSTOM_TOKEN': {'total': 5}}
    )
    both.a.describe = host(vcpus=16)
    result = both.cycle()
    assert (
        'driver a and driver b report different inventories of VCPU'
        in result.reason
    )
    found = operator.inventories()
    assert found['VCPU']['total'] == 8
    assert found['CUSTOM_TOKEN']['total'] == 5
    both.b.describe = extra()
    both.done()
    assert operator.inventories()['VCPU']['total'] == 16


# --- a reshape ----------------------------------------------------------------


def test_the_driver_that_asks_moves_the_allocations(pair, operator):
    class Mover(Driver):
        def update_provider_tree(self, tree, nodename, allocations=None):
            root = tree.data(nodename)
            if 'VGPU' in root.inventory and allocations is None:
                tree.declare_traits(nodename, 'CUSTOM_HALF')
                raise errors.ReshapeNeeded
            if not tree.exists('gpu'):
                tree.new_child('gpu', nodename)
            tree.declare_inventory(nodename, {})
            tree.declare_inventory('gpu', {'VGPU': {'total': 4}})
            gpu = tree.data('gpu').uuid
            for consumer in (allocations or {}).values():
                parts = consumer['allocations']
                parts[gpu] = parts.pop(root.uuid)

    def vgpus(tree, node):
        tree.declare_inventory(node, {'VGPU': {'total': 4}})

    def plain(tree, node):
        tree.declare_inventory(node, {'VCPU': {'total': 8}})
        tree.declare_traits(node, AVX)

    before = pair(plain, vgpus)
    before.done()
    operator.allocate(OTHER, 'VGPU')
    after = pair(plain, Mover(vgpus), state=before.agent.state)
    after.done()
    found = operator.holdings()
    assert set(found['gpu']['inventories']) == {'VGPU'}
    assert set(found[NAME]['inventories']) == {'VCPU'}
    assert found[NAME]['traits'] >= {AVX}
    assert 'CUSTOM_HALF' not in found[NAME]['traits']
    assert after.done().applied == ()


# --- the list of drivers changes ----------------------------------------------


@pytest.mark.catches('the claims of a driver that was removed stay for ever')
def test_what_a_removed_driver_reported_goes_and_nothing_else(
    pair, agent_factory, operator
):
    both = pair(host(AVX), extra('CUSTOM_RACK', 'CUSTOM_HAND'))
    operator.create(NODE, NAME)
    operator.add_traits('CUSTOM_HAND')
    both.done()
    alone = agent_factory(both.a, state=both.agent.state)
    (result,) = alone.done()
    assert removed(result) == {
        'CUSTOM_RACK': 'compute_driver does not name driver b any more',
        'CUSTOM_TOKEN': 'compute_driver does not name driver b any more',
        '': 'compute_driver does not name driver b any more',
    }
    assert operator.traits() >= {AVX, 'CUSTOM_HAND'}
    assert set(operator.inventories()) == {'VCPU'}
    assert 'nic' not in operator.holdings()
    (note,) = result.notes
    assert 'keeps CUSTOM_HAND' in note
    (quiet,) = alone.done()
    assert quiet.applied == ()


def test_claims_go_along_when_a_driver_gets_company_and_loses_it(
    agent_factory, operator
):
    class A(Driver):
        pass

    class B(Driver):
        pass

    def keeps(tree, node):
        tree.keep_traits(node)

    first = A(host(AVX))
    alone = agent_factory(Drivers({'a': first}))
    alone.done()
    first.describe = keeps
    more = Drivers({'b': B(lambda _tree, _node: None), 'a': first})
    both = agent_factory(more, state=alone.state)
    both.done()
    record = both.state.records.record([NODE], NODE).claims[NODE, Kind.TRAIT]
    assert record['driver:a'] == {AVX}
    assert 'driver' not in record
    again = agent_factory(Drivers({'a': first}), state=both.state)
    again.done()
    record = again.state.records.record([NODE], NODE).claims[NODE, Kind.TRAIT]
    assert record['driver'] == {AVX}
    assert AVX in operator.traits()


# --- the nodes ----------------------------------------------------------------


def away():
    raise errors.DriverError('the list cannot be read')


def test_nodes_are_the_union_and_each_has_its_own_drivers(
    agent_factory, operator
):
    here = Driver(host(AVX))
    there = Driver(host(SSE), nodes={OTHER: 'node-2'})
    agent_factory(Drivers({'a': here, 'b': there})).done()
    found = operator.holdings()
    assert found[NAME]['traits'] >= {AVX}
    assert SSE not in found[NAME]['traits']
    assert SSE in found['node-2']['traits']


def test_a_list_that_cannot_be_read_holds_its_own_and_no_node_departs(
    agent_factory, operator, monkeypatch
):
    here = Driver(host(AVX))
    there = Driver(extra('CUSTOM_RACK'), nodes={NODE: NAME, OTHER: 'node-2'})
    agent = agent_factory(Drivers({'a': here, 'b': there}))
    agent.done()
    before = operator.holdings()
    monkeypatch.setattr(there, 'get_available_nodes', away)
    monkeypatch.setattr(there, 'node_exists', lambda _: virt.Existence.NO)
    here.describe = host(AVX, SSE)
    for _ in range(2):
        results = agent.sync()
        assert [r.status for r in results] == [Status.FAILED] * 2
        for result in results:
            assert 'driver b: the list cannot be read' in result.reason
    after = operator.holdings()
    assert after[NAME]['traits'] == before[NAME]['traits'] | {SSE}
    assert {**after, NAME: 0} == {**before, NAME: 0}


def test_a_node_departs_when_every_driver_that_had_it_denies_it(
    agent_factory, operator
):
    here, there = Driver(host(AVX)), Driver(host(SSE))
    there.describe = lambda tree, node: tree.declare_traits(node, SSE)
    agent = agent_factory(Drivers({'a': here, 'b': there}))
    agent.done()
    here.nodes = there.nodes = {OTHER: 'node-2'}
    here.node_exists = lambda _: virt.Existence.NO
    agent.sync()
    assert NAME in operator.holdings()
    there.node_exists = lambda _: virt.Existence.NO
    agent.sync()
    assert NAME not in operator.holdings()


def test_a_driver_that_leaves_a_node_keeps_its_own_until_it_denies_the_node(
    pair, operator
):
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    both.b.nodes = {OTHER: 'node-2'}
    both.agent.done()
    assert 'CUSTOM_RACK' in operator.traits()
    both.b.node_exists = lambda name: (
        virt.Existence.NO if name == NAME else virt.Existence.YES
    )
    both.agent.done()
    assert 'CUSTOM_RACK' not in operator.traits()
    assert operator.traits() >= {AVX}


def test_one_name_with_two_uuids_is_refused(agent_factory, placement):
    agent = agent_factory(
        Drivers(
            {'a': Driver(host()), 'b': Driver(host(), nodes={OTHER: NAME})}
        )
    )
    with pytest.raises(errors.DriverError, match='driver a and driver b list'):
        agent.sync()
    assert placement.writes == []


def test_a_companion_leaves_the_children_of_a_removed_driver(
    pair, agent_factory, operator
):
    """Nova-compute may have taken them over; ``leave`` removes them."""
    both = pair(host(AVX), extra('CUSTOM_RACK'))
    both.done()
    before = operator.holdings()['nic']
    there = Driver(lambda tree, node: tree.declare_traits(node, 'CUSTOM_A'))
    companion = agent_factory(
        there, state=both.agent.state, mode=policy.Mode.COMPANION
    )
    companion.done()
    after = operator.holdings()
    assert after['nic']['inventories'] == before['inventories']
    assert after['nic']['traits'] == before['traits'] - {'OWNER_NOVA'}
    assert set(after[NAME]['inventories']) == {'VCPU', 'CUSTOM_TOKEN'}
    assert 'CUSTOM_RACK' not in after[NAME]['traits']
    (quiet,) = companion.done()
    assert quiet.applied == ()
