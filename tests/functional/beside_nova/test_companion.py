# SPDX-License-Identifier: Apache-2.0
"""A companion adds to what nova-compute reports, and touches nothing of it."""

import json

import pytest
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from compute_agent.ownership.policy import Mode
from compute_agent.provider_config import files as provider_config
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt

CARD = '33333333-3333-4333-8333-333333333333'
AGGREGATE = '44444444-4444-4444-8444-444444444444'
NOVAS_TRAITS = (
    'COMPUTE_NODE',
    'OWNER_NOVA',
    'COMPUTE_VOLUME_EXTEND',
    'HW_CPU_X86_AVX2',
)


def describe(tree, node):
    """Give what a companion's driver should, and some of what it should not."""
    tree.add_traits(node, 'CUSTOM_RACK_7', 'HW_NIC_SRIOV')
    if not tree.exists('card'):
        tree.new_child('card', node)
    tree.update_inventory('card', {'CUSTOM_FPGA': {'total': 2}})
    tree.update_traits('card', {'CUSTOM_FAST'})


def by_nova(operator):
    """Make the root as nova-compute reports it."""
    operator.create(NODE, NAME)
    operator.set_inventories({'VCPU': {'total': 8}, 'DISK_GB': {'total': 99}})
    operator.add_traits(*NOVAS_TRAITS)


@pytest.fixture
def companion(agent_factory, operator):
    """Return a companion on a host that nova-compute reports."""
    by_nova(operator)

    def make(driver=describe, **options):
        options.setdefault('takes_over', False)
        return agent_factory(driver, mode=Mode.COMPANION, **options)

    return make


def card(operator):
    return operator.holdings()['card']


def test_the_root_gets_traits_and_a_child_and_keeps_all_of_nova_s(
    companion, operator
):
    before = operator.inventories()
    companion().done()
    assert operator.traits() == {
        *NOVAS_TRAITS,
        'CUSTOM_RACK_7',
        'HW_NIC_SRIOV',
    }
    assert operator.inventories() == before
    assert card(operator)['parent'] == NAME
    assert card(operator)['traits'] == {'CUSTOM_FAST'}
    assert card(operator)['inventories']['CUSTOM_FPGA']['total'] == 2


def test_a_quiet_cycle_is_one_request(companion, placement):
    agent = companion()
    agent.done()
    agent.done()
    placement.clear()
    agent.done()
    assert len(placement.requests) == 1
    assert placement.writes == []


@pytest.mark.catches('a companion creates the root of nova-compute')
def test_while_the_root_is_missing_nothing_is_written(
    agent_factory, placement
):
    agent = agent_factory(describe, mode=Mode.COMPANION)
    results = [agent.cycle() for _ in range(3)]
    assert {r.status for r in results} == {Status.WAITING}
    (reason,) = {r.reason for r in results}
    assert 'nova-compute creates it' in reason
    assert placement.writes == []


@pytest.mark.catches("a companion asserts nova's traits")
def test_names_that_nova_decides_are_left_out_with_one_note(
    companion, operator
):
    def more(tree, node):
        describe(tree, node)
        tree.declare_traits(
            node,
            *('CUSTOM_RACK_7', 'HW_CPU_X86_SSE3', 'HW_ARCH_X86_64'),
            *('COMPUTE_ACCELERATORS', 'COMPUTE_NODE', 'OWNER_NOVA'),
        )
        tree.add_traits(
            'card', 'OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE', 'CUSTOM_NEW'
        )

    (result,) = companion(more).done()
    assert operator.traits() == {*NOVAS_TRAITS, 'CUSTOM_RACK_7'}
    assert card(operator)['traits'] == {'CUSTOM_FAST', 'CUSTOM_NEW'}
    of_root, of_card = result.notes
    assert 'left to nova-compute' in of_root
    assert 'COMPUTE_ACCELERATORS' in of_root
    assert 'HW_CPU_X86_SSE3' in of_root
    assert 'CUSTOM_RACK_7' not in of_root
    assert 'COMPUTE_MANAGED_PCI_DEVICE, OWNER_NOVA' in of_card


@pytest.mark.catches("a companion sets the complete list of the root's traits")
def test_a_complete_list_of_the_root_takes_nothing_away(companion, operator):
    operator.add_traits('CUSTOM_BY_HAND')
    operator.set_aggregates(AGGREGATE)

    def whole(tree, node):
        tree.update_traits(node, {'CUSTOM_RACK_7'})
        tree.update_aggregates(node, set())
        tree.remove_traits(node, 'CUSTOM_BY_HAND', 'COMPUTE_VOLUME_EXTEND')

    (result,) = companion(whole, authority=['COMPUTE_*', 'HW_CPU_*']).done()
    assert operator.traits() == {
        *NOVAS_TRAITS,
        'CUSTOM_BY_HAND',
        'CUSTOM_RACK_7',
    }
    assert operator.aggregates() == {AGGREGATE}
    assert not any('prune' in note for note in result.notes)


def test_what_the_companion_no_longer_reports_goes(companion, operator):
    agent = companion()
    agent.done()
    agent.driver.describe = lambda tree, node: (
        tree.declare_traits(node),
        tree.remove('card'),
    )
    agent.done()
    assert operator.traits() == set(NOVAS_TRAITS)
    assert set(operator.holdings()) == {NAME}


@pytest.mark.catches('a companion writes inventory of the root')
@pytest.mark.parametrize('verb', ['update_inventory', 'declare_inventory'])
def test_inventory_of_the_root_is_an_error_of_the_driver(
    companion, placement, verb
):
    def wrong(tree, node):
        describe(tree, node)
        getattr(tree, verb)(node, {'VCPU': {'total': 1}})

    agent = companion(wrong)
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert f'sets the inventory of {NAME}' in result.reason
    assert 'mode = owner' in result.reason
    assert placement.writes == []


def test_inventory_of_the_root_in_a_file_is_a_fault_with_its_line(
    companion, operator, tmp_path
):
    file = tmp_path / 'provider.yaml'
    file.write_text(
        'meta: {schema_version: "1.0"}\n'
        'providers:\n'
        '  - identification: {uuid: $COMPUTE_NODE}\n'
        '    inventories:\n'
        '      additional:\n'
        '        - CUSTOM_LICENSE: {total: 5}\n'
        '    traits: {additional: [CUSTOM_GOLD]}\n'
        '  - identification: {name: card}\n'
        '    inventories:\n'
        '      additional:\n'
        '        - CUSTOM_PORT: {total: 4}\n'
    )
    before = operator.inventories()
    files = provider_config.ProviderConfigFiles(
        lambda: (str(tmp_path), True), is_companion=True
    )
    result = companion(files=files).cycle()
    assert result.status is Status.FAILED
    assert f'CUSTOM_LICENSE at {file}:6 is not applied' in result.reason
    assert operator.inventories() == before
    assert 'CUSTOM_GOLD' in operator.traits()
    assert set(card(operator)['inventories']) == {'CUSTOM_FPGA', 'CUSTOM_PORT'}


@pytest.mark.catches("a companion writes to nova's children")
def test_a_child_of_nova_s_is_left_alone(companion, operator):
    operator.create(CARD, 'pci-card', NODE)
    operator.add_traits('OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE', uuid=CARD)
    before = operator.holdings()['pci-card']

    def touching(tree, node):
        describe(tree, node)
        tree.update_inventory('pci-card', {'CUSTOM_FPGA': {'total': 1}})
        tree.update_traits('pci-card', {'CUSTOM_FAST'})

    (result,) = companion(touching).done()
    assert operator.holdings()['pci-card'] == before
    (note,) = result.notes
    assert 'left as it is' in note

    agent = companion(lambda tree, _node: tree.remove('pci-card'))
    (result,) = agent.done()
    assert operator.holdings()['pci-card'] == before
    assert result.notes == ()


@pytest.mark.catches('a companion creates the root of nova-compute')
def test_a_deleted_service_takes_the_record_along_and_the_children_return(
    companion, operator, placement
):
    agent = companion()
    agent.done()
    child = card(operator)['uuid']
    operator.delete(child)  # as nova deletes a compute service
    operator.delete(NODE)
    placement.clear()
    assert {agent.cycle().status for _ in range(3)} == {Status.WAITING}
    assert placement.writes == []
    record = agent.state.records.record([NODE, child], NODE)
    assert (record.created, record.ours) == (frozenset(), {})
    by_nova(operator)
    agent.done()
    assert 'CUSTOM_RACK_7' in operator.traits()
    assert card(operator)['uuid'] == child


@pytest.mark.parametrize('is_deleted', [True, False])
def test_a_root_that_got_another_uuid_did_not_move_to_another_agent(
    companion, operator, placement, is_deleted
):
    agent = companion()
    agent.done()
    if is_deleted:  # as nova deletes a compute service
        operator.delete(card(operator)['uuid'])
        operator.delete(NODE)
    else:
        placement.put(f'/resource_providers/{NODE}', {'name': 'old'})
    operator.create(CARD, NAME)  # as nova-compute makes it anew
    agent.driver.nodes = {CARD: NAME}
    placement.clear()
    results = agent.sync()
    told = [note for r in results for note in r.notes if r.node.uuid == NODE]
    if is_deleted:
        assert told == []
        assert [r.node.uuid for r in results] == [CARD]
        assert NODE not in {n.uuid for n in agent.state.nodes.all()}
    else:
        assert told == [
            (
                f'its driver lists {NAME} with the uuid {CARD} now; the '
                f'provider {NODE} stays as it is: delete it if nothing else '
                'reports it'
            )
        ]


def test_a_root_with_another_name_is_not_written(companion, placement):
    agent = companion(nodes={NODE: 'renamed'})
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.FAILED
    assert f'placement knows provider {NODE} as {NAME}' in result.reason
    assert placement.writes == []


def test_a_node_that_departs_keeps_its_root(companion, operator):
    agent = companion()
    agent.done()
    before = operator.inventories()
    agent.driver.missing = virt.Existence.NO
    agent.driver.nodes = {CARD: 'another'}
    agent.sync()
    agent.sync()
    assert operator.traits() == set(NOVAS_TRAITS)
    assert operator.inventories() == before
    assert set(operator.holdings()) == {NAME}


# --- from one mode to the other -----------------------------------------------


def owner_s(tree, node):
    describe(tree, node)
    tree.update_inventory(node, {'VCPU': {'total': 8}})
    tree.declare_traits(node, 'HW_CPU_X86_AVX2', 'CUSTOM_RACK_7')


@pytest.mark.catches(
    "an owner that becomes a companion removes what is nova's"
)
def test_an_owner_hands_the_root_back_without_a_removal(
    agent_factory, operator
):
    owner = agent_factory(owner_s, mode=Mode.OWNER)
    owner.done()
    before = operator.holdings()
    agent = agent_factory(describe, state=owner.state, mode=Mode.COMPANION)
    agent.done()
    after = operator.holdings()
    assert after[NAME] == {
        **before[NAME],
        'traits': {*before[NAME]['traits'], 'HW_NIC_SRIOV'},
    }
    assert after['card'] == {**before['card'], 'traits': {'CUSTOM_FAST'}}
    record = agent.state.records.record([NODE, before['card']['uuid']], NODE)
    assert record.created == {before['card']['uuid']}
    assert record.ours[NODE, 'trait'] == {'CUSTOM_RACK_7', 'HW_NIC_SRIOV'}
    assert (NODE, 'inventory') not in record.ours
    operator.remove_traits('HW_CPU_X86_AVX2')  # nova finds the flag gone
    agent.done()
    assert 'HW_CPU_X86_AVX2' not in operator.traits()


def test_planning_as_a_companion_changes_no_record(cli):
    assert cli.run('sync').code == 0
    cli.configure(agent={'mode': 'companion'})
    cli.run('plan')
    shown = json.loads(cli.run('state', 'show', '-f', 'json').out)
    assert {row['Created'] for row in shown if row['Kind'] == 'provider'} == {
        True
    }


@pytest.mark.catches(
    "an owner takes nova's root because it added a trait to it"
)
def test_a_companion_that_becomes_an_owner_asks_before_the_first_write(
    companion, agent_factory, operator
):
    agent = companion()
    agent.done()
    before = operator.holdings()

    def smaller(tree, node):
        describe(tree, node)
        tree.update_inventory(node, {'VCPU': {'total': 2}})

    owner = agent_factory(
        smaller, state=agent.state, mode=Mode.OWNER, takes_over=False
    )
    assert owner.cycle().status is Status.WAITING
    assert operator.holdings() == before
    agent_factory(smaller, state=agent.state, mode=Mode.OWNER).done()
    again = agent_factory(
        smaller, state=agent.state, mode=Mode.OWNER, takes_over=False
    )
    again.done()
    assert operator.inventories()['VCPU']['total'] == 2
    assert card(operator)['traits'] == {'CUSTOM_FAST', 'OWNER_NOVA'}


def test_a_child_that_nova_took_over_is_given_up(agent_factory, operator):
    owner = agent_factory(owner_s, mode=Mode.OWNER)
    owner.done()
    child = card(operator)['uuid']
    operator.add_traits('COMPUTE_MANAGED_PCI_DEVICE', uuid=child)
    before = card(operator)
    agent = agent_factory(describe, state=owner.state, mode=Mode.COMPANION)
    (result,) = agent.done()
    assert card(operator) == before
    assert any('nova-compute has taken it over' in n for n in result.notes)
    record = agent.state.records.record([NODE, child], NODE)
    assert record.created == frozenset()
    agent.driver.describe = lambda tree, _node: tree.remove('card')
    agent.done()
    assert card(operator) == before


@pytest.mark.parametrize('sees_one_cycle', [False, True])
def test_leaving_after_the_change_keeps_all_of_nova_s(
    agent_factory, operator, sees_one_cycle
):
    owner = agent_factory(owner_s, mode=Mode.OWNER)
    owner.done()
    operator.add_traits(
        'COMPUTE_MANAGED_PCI_DEVICE', uuid=card(operator)['uuid']
    )
    before = operator.holdings()
    agent = agent_factory(
        lambda tree, node: tree.declare_traits(node, 'CUSTOM_RACK_7'),
        state=owner.state,
        mode=Mode.COMPANION,
    )
    if sees_one_cycle:
        agent.done()
    node = Node(uuid=NODE, name=NAME)
    (result,) = agent.tracker.leave([node], writing=True)
    assert result.status is Status.DONE, result
    after = operator.holdings()
    assert after['card'] == before['card']
    assert after[NAME]['inventories'] == before[NAME]['inventories']
    gone = before[NAME]['traits'] - after[NAME]['traits']
    assert gone == {'CUSTOM_RACK_7'}
    taken_over, names = result.notes
    assert 'card' in taken_over
    assert 'nova-compute has taken it over' in taken_over
    assert 'use them: CUSTOM_RACK_7;' in names


@pytest.mark.parametrize('allocated', [False, True])
def test_leaving_at_once_neither_deletes_nor_reserves_the_root(
    agent_factory, operator, allocated
):
    owner = agent_factory(owner_s, mode=Mode.OWNER)
    owner.done()
    before = operator.holdings()
    if allocated:
        operator.allocate(CARD, 'VCPU')
    agent = agent_factory(describe, state=owner.state, mode=Mode.COMPANION)
    node = Node(uuid=NODE, name=NAME)
    (result,) = agent.tracker.leave([node], writing=True)
    assert result.status is Status.DONE, result
    after = operator.holdings()
    assert set(after) == {NAME}
    assert after[NAME]['inventories'] == before[NAME]['inventories']
    assert 'OWNER_NOVA' in after[NAME]['traits']


def test_it_waits_until_libvirt_told_the_name_of_the_host(
    companion, placement
):
    agent = companion()
    agent.driver.get_hypervisor_hostnames = lambda: {NAME: ''}
    placement.clear()
    with pytest.raises(errors.NotYet) as caught:
        agent.cycle()
    assert "libvirt has not told the host's name yet" in str(caught.value)
    assert placement.writes == []
    del agent.driver.get_hypervisor_hostnames
    agent.done()
