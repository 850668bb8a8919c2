# SPDX-License-Identifier: Apache-2.0
"""A reporter reports a node whose guests nova-compute starts.

nova-compute adds its capabilities to the root, and may turn out to report the
node itself.
"""

import pytest
from agents import NAME, NODE

from compute_agent import errors
from compute_agent.cycle.resource_tracker import Status
from compute_agent.identity import nova_compute
from compute_agent.identity.nova_compute import NovaState
from compute_agent.ownership.policy import Mode
from compute_agent.tree.assertion import Kind
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt

DEVICE = '33333333-3333-4333-8333-333333333333'
NOVAS_TRAITS = {
    'COMPUTE_IMAGE_TYPE_RAW',
    'COMPUTE_NODE',
    'COMPUTE_VOLUME_EXTEND',
    'OWNER_NOVA',
}
VCPU = {'VCPU': {'total': 8}}
SSE = 'HW_CPU_X86_SSE3'


def describe(tree, node):
    """Describe a host, with a capability that this nova does not have."""
    tree.update_inventory(node, VCPU)
    tree.declare_traits(node, SSE, 'COMPUTE_ACCELERATORS', 'CUSTOM_RACK_7')
    if not tree.exists('gpu'):
        tree.new_child('gpu', node)
    tree.update_inventory('gpu', {'VGPU': {'total': 2}})


@pytest.fixture
def host(tmp_path):
    """The directory with the uuid of the host."""
    (tmp_path / 'compute_id').write_text(NODE)
    return tmp_path


@pytest.fixture
def sign(monkeypatch):
    """A function that sets what the host shows of nova-compute."""

    def show(state):
        shown = nova_compute.Sign(state=state, fact='process 7')
        monkeypatch.setattr(nova_compute, 'look', lambda *_: shown)

    show(NovaState.UNKNOWN)
    return show


@pytest.fixture
def reporter(agent_factory, clock, host, sign):
    """Return a function that makes a reporter."""

    def make(driver=describe, **options):
        options.setdefault('takes_over', False)
        options.setdefault('mode', Mode.REPORTER)
        return agent_factory(
            driver, clock=clock, directories=[host], **options
        )

    return make


def by_nova(operator, *more):
    operator.create(NODE, NAME)
    operator.add_traits(*NOVAS_TRAITS, *more)


@pytest.mark.catches("a reporter asserts nova-compute's traits")
def test_nova_first(reporter, operator, placement):
    by_nova(operator)
    agent = reporter(authority=['COMPUTE_*', 'HW_CPU_*'])
    agent.done()
    assert operator.traits() == NOVAS_TRAITS | {SSE, 'CUSTOM_RACK_7'}
    assert operator.inventories()['VCPU']['total'] == 8
    assert operator.traits(operator.holdings()['gpu']['uuid']) == {
        'OWNER_NOVA'
    }
    agent.done()
    placement.clear()
    agent.done()
    assert placement.writes == []


@pytest.mark.catches('a companion creates the root of nova-compute')
@pytest.mark.parametrize('is_there', [False, True])
def test_the_agent_first(reporter, operator, placement, is_there):
    """It waits for the whole first pass of nova-compute."""
    if is_there:
        operator.create(NODE, NAME)
    agent = reporter()
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert 'nothing is written until then' in result.reason
    assert placement.writes == []
    if not is_there:
        operator.create(NODE, NAME)
    operator.add_traits(*NOVAS_TRAITS)
    agent.done()
    assert operator.traits() == NOVAS_TRAITS | {SSE, 'CUSTOM_RACK_7'}


def test_a_later_write_asks_nobody(reporter, operator):
    by_nova(operator)
    agent = reporter()
    agent.done()
    agent.driver.describe = lambda tree, node: (
        describe(tree, node),
        tree.add_traits(node, 'CUSTOM_NEW'),
    )
    agent.done()
    assert 'CUSTOM_NEW' in operator.traits()


def test_inventory_of_nova_is_not_replaced_without_a_yes(reporter, operator):
    by_nova(operator)
    operator.set_inventories({'VCPU': {'total': 4}})
    result = reporter().cycle()
    assert result.status is Status.WAITING
    assert 'waits for approval' in result.reason
    assert operator.inventories()['VCPU']['total'] == 4
    reporter(takes_over=True).done()
    assert operator.inventories()['VCPU']['total'] == 8


@pytest.mark.catches("a reporter asserts nova-compute's traits")
def test_a_complete_list_takes_none_of_nova_s_away(reporter, operator):
    by_nova(operator, 'COMPUTE_STATUS_DISABLED', 'CUSTOM_BY_HAND')

    def whole(tree, node):
        tree.update_inventory(node, VCPU)
        tree.update_traits(node, {SSE})
        tree.remove_traits(node, 'COMPUTE_VOLUME_EXTEND')

    reporter(whole).done()
    assert operator.traits() == {
        *NOVAS_TRAITS,
        'COMPUTE_STATUS_DISABLED',
        SSE,
    }


@pytest.mark.catches("an owner that becomes a reporter removes what is nova's")
def test_an_owner_becomes_a_reporter_and_an_owner_again(
    reporter, operator, placement
):
    owner = reporter(mode=Mode.OWNER)
    owner.done()
    owner_s = operator.traits()
    assert {'COMPUTE_ACCELERATORS', 'COMPUTE_NODE', 'OWNER_NOVA'} <= owner_s
    agent = reporter(state=owner.state)
    placement.clear()
    agent.done()
    agent.done()
    assert placement.writes == []
    assert operator.traits() == owner_s
    # So "compute-agent leave" takes none of them off.
    ours = agent.state.records.record([NODE], NODE).ours
    assert ours[NODE, Kind.TRAIT] == {SSE, 'CUSTOM_RACK_7'}

    # nova-compute has the last word on its own.
    operator.remove_traits('COMPUTE_ACCELERATORS')
    agent.done()
    assert 'COMPUTE_ACCELERATORS' not in operator.traits()
    again = reporter(mode=Mode.OWNER, state=owner.state)
    again.done()
    assert operator.traits() == owner_s


@pytest.mark.catches("an owner that becomes a reporter removes what is nova's")
def test_pci_devices_of_an_owner_become_nova_s(reporter, operator):
    def devices(tree, node):
        describe(tree, node)
        tree.new_child('pci', node, uuid=DEVICE)
        tree.update_inventory('pci', {'CUSTOM_PCI_1': {'total': 1}})
        tree.add_traits('pci', 'COMPUTE_MANAGED_PCI_DEVICE')

    owner = reporter(devices, mode=Mode.OWNER)
    owner.done()
    agent = reporter(state=owner.state)
    agent.done()
    assert not agent.state.records.record([DEVICE], NODE).created
    assert 'COMPUTE_MANAGED_PCI_DEVICE' in operator.traits(DEVICE)


def test_a_root_that_another_deleted_is_nova_s_to_create(
    reporter, operator, placement
):
    by_nova(operator)
    agent = reporter()
    agent.done()
    operator.delete(operator.holdings()['gpu']['uuid'])
    operator.delete(NODE)
    placement.clear()
    for _ in range(3):
        result = agent.cycle()
        assert result.status is Status.WAITING
    assert 'nova-compute creates it' in result.reason
    assert placement.writes == []
    by_nova(operator)
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


# --- is it so? ----------------------------------------------------------------


@pytest.mark.catches('a reporter writes where nova-compute reports')
@pytest.mark.parametrize(
    ('finding', 'words'),
    [
        (NovaState.REPORTS, 'nova-compute reports this host itself'),
        (NovaState.STARTS, 'nova-compute starts'),
    ],
)
def test_nothing_is_written_where_nova_compute_may_report(
    reporter, operator, placement, sign, finding, words
):
    by_nova(operator)
    agent = reporter()
    sign(finding)
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert words in result.reason
    assert '\n' not in result.reason
    # What the agent would do is planned all the same, for a migration.
    (planned,) = agent.plan()
    assert planned.status is Status.WAITING
    assert planned.plan.operations
    assert placement.writes == []
    sign(NovaState.SILENT)
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


def test_nodes_that_are_not_this_host_do_not_wait_for_it(
    reporter, operator, sign, host
):
    (host / 'compute_id').write_text(DEVICE)
    by_nova(operator)
    sign(NovaState.REPORTS)
    reporter().done()
    assert operator.inventories()['VCPU']['total'] == 8


def undo(operator):
    operator.set_inventories({'VCPU': {'total': 4}})
    operator.remove_traits(SSE)


@pytest.mark.catches('a reporter goes on where nova-compute undoes its work')
def test_the_agent_steps_back_where_its_work_is_undone(
    reporter, operator, placement, clock
):
    by_nova(operator)
    agent = reporter()
    agent.done()
    undo(operator)
    clock.now += 60
    agent.done()
    undo(operator)
    clock.now += 300
    placement.clear()
    result = agent.cycle()
    assert result.status is Status.WAITING
    assert f'undid {SSE}, VCPU twice' in result.reason
    assert 'seems to report this node' in result.reason
    clock.now += 3000
    assert agent.cycle().status is Status.WAITING
    assert placement.writes == []

    clock.now += 700
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8
    clock.now += 60
    agent.done()


def test_a_person_s_change_is_restored_and_no_sign(reporter, operator, clock):
    by_nova(operator)
    agent = reporter()
    agent.done()
    for _ in range(2):
        undo(operator)
        clock.now += 3700
        agent.done()
    # Other names, and names that nova-compute leaves alone.
    clock.now += 3700
    operator.remove_traits(SSE)
    agent.done()
    operator.set_inventories({'VCPU': {'total': 4}})
    clock.now += 60
    agent.done()
    for _ in range(2):
        operator.remove_traits('CUSTOM_RACK_7')
        clock.now += 60
        agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


def test_a_name_that_was_not_restored_is_not_undone_again(
    reporter, operator, clock, placement, monkeypatch
):
    by_nova(operator)
    agent = reporter()
    agent.done()
    undo(operator)
    real = agent.client.apply
    monkeypatch.setattr(agent.client, 'apply', away)
    assert agent.cycle().status is Status.FAILED
    clock.now += 60
    agent.plan()
    assert agent.cycle().status is Status.FAILED
    monkeypatch.setattr(agent.client, 'apply', real)
    clock.now += 60
    agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


def away(*_):
    raise errors.Refused('another writer')


def test_traits_of_a_bare_metal_node_are_a_sign(
    reporter, operator, clock, host
):
    (host / 'compute_id').unlink()
    by_nova(operator)
    agent = reporter()
    agent.done()
    for _ in range(2):
        operator.remove_traits('CUSTOM_RACK_7')
        clock.now += 60
        result = agent.cycle()
    assert 'CUSTOM_RACK_7 twice' in result.reason


def test_where_nova_is_silent_for_certain_nothing_is_a_sign(
    reporter, operator, clock, sign
):
    by_nova(operator)
    sign(NovaState.SILENT)
    agent = reporter()
    agent.done()
    for _ in range(2):
        undo(operator)
        clock.now += 60
        agent.done()
    assert operator.inventories()['VCPU']['total'] == 8


# --- the end ------------------------------------------------------------------


@pytest.mark.parametrize('sees_one_cycle', [False, True])
def test_an_owner_s_root_stays_when_a_reporter_leaves(
    reporter, operator, sees_one_cycle
):
    owner = reporter(mode=Mode.OWNER)
    owner.done()
    before = operator.holdings()[NAME]
    agent = reporter(state=owner.state)
    if sees_one_cycle:
        agent.done()
    (result,) = agent.tracker.leave([Node(uuid=NODE, name=NAME)], writing=True)
    assert result.status is Status.DONE, result
    after = operator.holdings()
    assert set(after) == {NAME}  # without the child
    assert after[NAME]['inventories'] == before['inventories']
    gone = before['traits'] - after[NAME]['traits']
    assert gone == {SSE, 'CUSTOM_RACK_7'}


def test_nothing_is_taken_off_where_nova_compute_reports(
    reporter, operator, placement, sign
):
    by_nova(operator)
    agent = reporter()
    agent.done()
    sign(NovaState.REPORTS)
    agent.cycle()
    placement.clear()
    node = Node(uuid=NODE, name=NAME)
    (result,) = agent.tracker.leave([node], writing=True)
    assert result.status is Status.WAITING
    assert 'nova-compute reports this host itself' in result.reason
    agent.driver.nodes = {}
    result = agent.cycle()
    assert result.status is Status.LEFT
    assert placement.writes == []


def test_a_node_that_is_gone_is_reserved_until_nova_deletes_it(
    reporter, operator
):
    by_nova(operator)
    agent = reporter()
    agent.done()
    agent.driver.missing = virt.Existence.NO
    agent.driver.nodes = {DEVICE: 'another'}
    gone = {r.node.uuid: r for r in agent.sync()}[NODE]
    assert gone.status is Status.DONE
    assert any('nova-compute deletes its providers' in n for n in gone.notes)
    assert operator.inventories()['VCPU']['reserved'] == 8
    operator.delete(operator.holdings()['gpu']['uuid'])
    operator.delete(NODE)
    agent.sync()
    assert {r.node.uuid for r in agent.sync()} == {DEVICE}
