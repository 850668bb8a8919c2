# SPDX-License-Identifier: Apache-2.0
"""Describing a node: which of the driver's methods is asked, its faults."""

import pytest

from compute_agent import errors
from compute_agent.cycle.describing import describe
from compute_agent.ownership.record import Record
from compute_agent.tree import (
    assertion,
    host_inventory,
    provider,
    provider_tree,
)
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt

UUID = '11111111-1111-4111-8111-111111111111'
CHILD = '33333333-3333-4333-8333-333333333333'
THEIRS = '44444444-4444-4444-8444-444444444444'
NODE = Node(uuid=UUID, name='node-1')
NOTHING_KEPT = host_inventory.Reserved()


class Silent(virt.ComputeDriver):
    """Implements nothing that describes."""

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return [NODE.name]


class WithTree(Silent):
    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(nodename, {'VCPU': {'total': 1}})

    def get_inventory(self, nodename):
        raise AssertionError('not to be asked')

    get_traits = get_available_resource = get_inventory


class WithInventory(Silent):
    def get_inventory(self, nodename):
        return {'VCPU': {'total': 2}}

    def get_available_resource(self, nodename):
        raise AssertionError('not to be asked')


class WithInventoryAndTraits(WithInventory):
    def get_traits(self, nodename):
        return ['HW_CPU_X86_AVX']


class WithResources(Silent):
    def __init__(self, **resources):
        self.resources = resources or {
            'vcpus': 4,
            'memory_mb': 2048,
            'local_gb': 10,
            'numa_topology': 'ignored',
        }

    def get_available_resource(self, nodename):
        return self.resources


def described(driver, reserved=NOTHING_KEPT, tree=None):
    tree = tree or provider_tree.ProviderTree()
    describe.describe(driver, tree, NODE, reserved)
    return tree


def test_the_tree_is_the_drivers_first_word():
    tree = described(WithTree())
    assert tree.data(UUID).inventory == {'VCPU': {'total': 1}}


def test_inventory_is_asked_for_without_a_tree():
    data = described(WithInventory()).data(UUID)
    assert data.inventory == {'VCPU': {'total': 2}}
    assert data.traits == set()


def test_traits_go_with_inventory():
    tree = described(WithInventoryAndTraits())
    assert tree.data(UUID).traits == {'HW_CPU_X86_AVX'}


def test_without_get_traits_nothing_is_said_of_traits():
    tree = described(WithInventory())
    assert (UUID, assertion.Kind.TRAIT) not in tree.assertions


def test_traits_are_declared_beside_others():
    before = provider.Provider(
        uuid=UUID, name=NODE.name, traits=frozenset({'CUSTOM_OTHERS'})
    )
    tree = provider_tree.ProviderTree.from_providers([before])
    described(WithInventoryAndTraits(), tree=tree)
    assert tree.data(UUID).traits == {'HW_CPU_X86_AVX', 'CUSTOM_OTHERS'}
    said = tree.assertions[UUID, assertion.Kind.TRAIT][assertion.DRIVER]
    assert said.declared


def test_the_oldest_form_comes_last_with_what_is_reserved():
    reserved = host_inventory.Reserved(cpus=1, memory_mb=512, disk_mb=1025)
    records = described(WithResources(), reserved).data(UUID).inventory
    assert {rc: (r['total'], r['reserved']) for rc, r in records.items()} == {
        'VCPU': (4, 1),
        'MEMORY_MB': (2048, 512),
        'DISK_GB': (10, 2),
    }
    for record in records.values():
        assert record['max_unit'] == record['total']
        assert 'allocation_ratio' not in record


@pytest.mark.parametrize(
    'resources', [{'vcpus': 4}, {'vcpus': 4, 'memory_mb': 0, 'local_gb': 0}]
)
def test_what_there_is_none_of_is_left_out(resources):
    driver = WithResources(**resources)
    assert set(described(driver).data(UUID).inventory) == {'VCPU'}


def test_traits_are_asked_for_with_the_oldest_form_too():
    class Both(WithResources, WithInventoryAndTraits):
        get_inventory = Silent.get_inventory
        get_available_resource = WithResources.get_available_resource

    data = described(Both()).data(UUID)
    assert data.traits == {'HW_CPU_X86_AVX'}
    assert data.inventory['VCPU']['total'] == 4


class Undecided(WithInventoryAndTraits):
    """Edits the tree, and then finds that this is not its node's way."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        provider_tree.update_inventory(nodename, {'DISK_GB': {'total': 1}})
        provider_tree.add_traits(nodename, 'CUSTOM_HALF')
        provider_tree.remove_traits(nodename, 'CUSTOM_OTHERS')
        provider_tree.add_aggregates(nodename, UUID)
        provider_tree.new_child('half', nodename)
        provider_tree.note('half')
        provider_tree.fault('half')
        if provider_tree.exists('nic'):
            provider_tree.remove('nic')
        raise NotImplementedError


@pytest.mark.parametrize('known', [False, True])
def test_edits_before_the_fall_back_are_discarded(known):
    root = provider.Provider(
        uuid=UUID, name=NODE.name, traits=frozenset({'CUSTOM_OTHERS'})
    )
    nic = provider.Provider(uuid=THEIRS, name='nic', parent_uuid=UUID)
    shared = provider.Provider(uuid=CHILD, name='shared', parent_uuid=THEIRS)
    seen = provider.snapshot([root, nic, shared] if known else [])

    def tree():
        return provider_tree.ProviderTree.from_snapshot(seen, {CHILD})

    after = described(Undecided(), tree=tree())
    plain = described(WithInventoryAndTraits(), tree=tree())
    assert after.description() == plain.description()
    assert after.removed_by == plain.removed_by == {}
    assert [after.data(uuid) for uuid in after.get_provider_uuids()] == [
        plain.data(uuid) for uuid in plain.get_provider_uuids()
    ]


def test_a_driver_that_took_the_allocations_cannot_fall_back():
    driver, tree = Undecided(), provider_tree.ProviderTree()
    with pytest.raises(errors.DriverError, match='has no update_provider'):
        describe.describe(driver, tree, NODE, NOTHING_KEPT, {})


def test_the_root_is_made_for_a_driver_that_only_edits():
    assert described(WithTree()).data(UUID).name == NODE.name


class Deep(Silent):
    """Has the newest method, in which something else is missing."""

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        raise NotImplementedError('something inside')


class DeepTwice(Deep):
    def get_available_resource(self, nodename):
        raise NotImplementedError('and here')


@pytest.mark.catches('the text of a NotImplementedError is lost')
@pytest.mark.parametrize(
    ('driver', 'said'),
    [
        (Deep(), 'NotImplementedError: something inside'),
        (
            DeepTwice(),
            (
                'NotImplementedError: something inside; '
                'NotImplementedError: and here'
            ),
        ),
    ],
    ids=['Deep', 'DeepTwice'],
)
def test_a_driver_that_describes_nothing_keeps_its_words(driver, said):
    with pytest.raises(errors.DriverError) as caught:
        described(driver)
    assert str(caught.value) == (
        f'{type(driver).__name__} failed for {NODE}: none of its methods '
        f'describes it ({said})'
    )


def test_a_driver_that_describes_nothing_is_a_driver_error():
    with pytest.raises(errors.DriverError, match='Silent failed for node-1'):
        described(Silent())


@pytest.mark.parametrize(
    'raised',
    [
        RuntimeError('no answer'),
        ValueError('what'),
        KeyError('VCPU'),
        OSError(5, 'Input/output error'),
        errors.TreeError('no such provider'),
        errors.Replan('not its business'),
        StopIteration(),
        AssertionError('impossible'),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize(
    'method', ['update_provider_tree', 'get_inventory', 'get_traits']
)
def test_whatever_a_driver_raises_is_its_error(method, raised):
    class Broken(WithInventoryAndTraits):
        pass

    def fail(*_args):
        raise raised

    setattr(Broken, method, fail)
    with pytest.raises(errors.DriverError) as caught:
        described(Broken())
    assert caught.value.__cause__ is raised
    for part in ('Broken', UUID, type(raised).__name__, str(raised)):
        assert part in str(caught.value)


def test_a_drivers_own_error_is_passed_on_as_it_is():
    mine = errors.DriverError('the controller is off: switch it on')

    class Off(Silent):
        def update_provider_tree(self, *_args):
            raise mine

    with pytest.raises(errors.DriverError) as caught:
        described(Off())
    assert caught.value is mine


def test_an_interrupt_is_not_a_drivers_fault():
    class Stopped(Silent):
        def update_provider_tree(self, *_args):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        described(Stopped())


def test_an_exit_is_a_drivers_fault_and_its_call_is_named():
    class Stopped(Silent):
        def update_provider_tree(self, *_args):
            raise SystemExit

    with pytest.raises(
        errors.DriverError,
        match=r'^Stopped failed for .*: SystemExit in update_provider_tree \(',
    ):
        described(Stopped())


@pytest.mark.parametrize(
    'inventory', [None, 'VCPU', {'VCPU': None}, {'VCPU': 8}, {'vcpu': {}}, 7]
)
def test_an_inventory_of_another_shape_is_a_driver_error(inventory):
    class Odd(Silent):
        def get_inventory(self, nodename):
            return inventory

    with pytest.raises(errors.DriverError, match='Odd'):
        described(Odd())


@pytest.mark.parametrize(
    'traits', [None, 7, ['avx'], [None], 'HW_CPU_X86_AVX']
)
def test_traits_of_another_shape_are_a_driver_error(traits):
    class Odd(WithInventory):
        def get_traits(self, nodename):
            return traits

    with pytest.raises(errors.DriverError, match='Odd'):
        described(Odd())


class Remover(Silent):
    def update_provider_tree(self, provider_tree, *_args):
        provider_tree.remove(UUID)


def test_a_driver_that_removes_a_root_that_is_there_is_told_what_to_do():
    tree = provider_tree.ProviderTree.from_providers(
        [provider.Provider(uuid=UUID, name=NODE.name)]
    )
    with pytest.raises(errors.DriverError, match='get_available_nodes'):
        describe.describe(Remover(), tree, NODE, host_inventory.Reserved())


def test_a_driver_that_removes_a_new_root_reports_nothing_of_the_node_yet():
    assert not described(Remover()).exists(UUID)


def test_more_reserved_than_there_is_names_the_option():
    with pytest.raises(errors.DriverError, match='reserved_host_cpus'):
        described(WithResources(), host_inventory.Reserved(cpus=5))


# --- the agent's own traits --------------------------------------------------


def nested():
    providers = [
        provider.Provider(uuid=UUID, name=NODE.name),
        provider.Provider(uuid=THEIRS, name='nic', parent_uuid=UUID),
    ]
    tree = provider_tree.ProviderTree.from_providers(providers)
    tree.new_child('numa0', UUID, CHILD)
    return tree


def test_the_root_is_a_compute_node_of_novas():
    tree = nested()
    describe.assert_own_traits(tree, NODE, Record())
    assert tree.data(UUID).traits == {'COMPUTE_NODE', 'OWNER_NOVA'}


def test_a_new_child_is_novas_and_anothers_is_not():
    tree = nested()
    describe.assert_own_traits(tree, NODE, Record())
    assert tree.data(CHILD).traits == {'OWNER_NOVA'}
    assert tree.data(THEIRS).traits == set()


def test_a_child_that_we_created_earlier_is_novas_still():
    tree = nested()
    record = Record(created=frozenset({THEIRS}))
    describe.assert_own_traits(tree, NODE, record)
    assert tree.data(THEIRS).traits == {'OWNER_NOVA'}


def test_own_traits_are_the_agents_word_and_not_the_drivers():
    tree = nested()
    tree.update_traits(UUID, ['HW_CPU_X86_AVX'])
    describe.assert_own_traits(tree, NODE, Record())
    said = tree.assertions[UUID, assertion.Kind.TRAIT]
    assert said[assertion.DRIVER].names == {'HW_CPU_X86_AVX'}
    assert said[assertion.AGENT].names == {'COMPUTE_NODE', 'OWNER_NOVA'}


class Moving(Silent):
    """Asks for allocations, as often as the test says.

    :ivar given: what it was called with
    """

    def __init__(self, times=1):
        self.times = times
        self.given = []

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        self.given.append(allocations)
        if len(self.given) <= self.times:
            raise errors.ReshapeNeeded
        allocations.clear()


def test_a_driver_may_ask_for_allocations_and_edits_them_in_place():
    driver, tree = Moving(), provider_tree.ProviderTree()
    with pytest.raises(errors.ReshapeNeeded):
        describe.describe(driver, tree, NODE, NOTHING_KEPT)
    allocations = {'consumer': {}}
    tree = provider_tree.ProviderTree()
    describe.describe(driver, tree, NODE, NOTHING_KEPT, allocations)
    assert driver.given[0] is None
    assert driver.given[1] is allocations
    assert allocations == {}


def test_there_may_be_none():
    """Which is not the same as not being told."""
    driver, tree = Moving(times=0), provider_tree.ProviderTree()
    describe.describe(driver, tree, NODE, NOTHING_KEPT, {})
    assert driver.given == [{}]


def test_a_driver_that_asks_for_what_it_has_fails():
    driver, tree = Moving(times=2), provider_tree.ProviderTree()
    with pytest.raises(errors.DriverError, match='which it was given'):
        describe.describe(driver, tree, NODE, NOTHING_KEPT, {})


@pytest.mark.parametrize('method', ['get_inventory', 'get_traits'])
def test_the_older_methods_cannot_ask_for_allocations(method):
    class Asking(WithInventoryAndTraits):
        def ask(self, nodename):
            raise errors.ReshapeNeeded

    setattr(Asking, method, Asking.ask)
    with pytest.raises(errors.DriverError) as caught:
        described(Asking())
    assert str(caught.value).endswith(
        'only update_provider_tree can move what is allocated'
    )
