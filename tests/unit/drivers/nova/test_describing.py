# SPDX-License-Identifier: Apache-2.0
"""The nodes and trees of nova's drivers, with a stand-in for nova."""

import logging
import os
import threading

import pytest

from compute_agent import errors
from compute_agent.virt import driver as virt

UUID = '44444444-4444-4444-8444-444444444444'
NAME = 'nova:small.SmallDriver'


def described(nova, name=NAME, **inventory):
    tree = nova.tree(**inventory)
    made = nova.load(name)
    made.get_available_nodes()
    made.update_provider_tree(tree, 'cn1')
    return tree


def removed(tree):
    """Return the traits that the driver takes away."""
    ((assertion,),) = [
        of_source.values()
        for (_, kind), of_source in tree.assertions.items()
        if kind == 'trait'
    ]
    return assertion.removed


def test_nova_begins_once_with_threads_and_its_own_options(nova):
    nova.configure('[DEFAULT]\nhost = cn7\nvcpus = 5\n')
    made = nova.load(NAME)
    assert nova.part('nova.monkey_patch').chosen == ['threading']
    assert os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] == '1'
    assert nova.part('nova.objects').registered == [True]
    conf = nova.part('nova.conf').CONF
    assert {'neutron_net', 'devices_net'} <= set(conf)
    assert made.get_available_nodes() == ['cn7']
    assert made.get_available_nodes() == ['cn7']
    assert made._driver.begun == 1
    made.close()
    assert made._driver.ended == 1
    nova.load(NAME).close()
    assert nova.part('nova.monkey_patch').chosen == ['threading']


@pytest.mark.parametrize(
    ('option', 'helper'),
    [
        ('', ['sudo', 'nova-rootwrap', '/etc/nova/rootwrap.conf']),
        ('[workarounds]\ndisable_rootwrap = true\n', ['sudo']),
    ],
)
def test_privileged_calls_have_novas_helper(nova, option, helper):
    nova.configure(option)
    nova.load(NAME)
    assert nova.part('oslo_privsep.priv_context').helpers == [helper]


def test_novas_loggers_are_quiet_unless_the_agent_debugs(nova):
    nova.load(NAME)
    assert logging.getLogger('nova').level == logging.WARNING


def test_novas_loggers_say_everything_in_debug_mode(nova, caplog):
    caplog.set_level(logging.DEBUG)
    nova.load(NAME)
    assert logging.getLogger('nova').level == logging.NOTSET


def test_the_uuids_are_the_drivers(nova):
    made = nova.load(NAME)
    made.get_available_nodes()
    assert made.get_nodenames_by_uuid() == {UUID: 'cn1'}


@pytest.mark.catches("nova's code makes the host's identity")
def test_a_host_without_an_identity_has_the_agents_from_then_on(nova):
    made = nova.load('nova:small.Plain')
    assert made.get_available_nodes() == ['cn1']
    assert made.get_nodenames_by_uuid() == {}
    made.update_provider_tree(nova.tree(), 'cn1')
    assert nova.part('nova.virt.node').get_local_node_uuid() == UUID


@pytest.mark.catches('a node that a driver of nova lists no more is gone')
def test_only_a_node_that_the_driver_calls_deleted_is_gone(nova):
    made = nova.load(NAME)
    assert made.node_exists('gone') is virt.Existence.NO
    assert made.node_exists('elsewhere') is virt.Existence.UNKNOWN
    assert made.node_exists('cn1') is virt.Existence.UNKNOWN
    made.get_available_nodes()
    assert made.node_exists('cn1') is virt.Existence.YES


@pytest.mark.catches('a thread of nova keeps the process from ending')
def test_a_thread_of_nova_does_not_keep_the_process_from_ending(nova):
    nova.load(NAME)
    spawn = nova.part('nova.thread_pool_factory').spawn
    thread = spawn(threading.current_thread).result(timeout=60)
    assert thread.daemon
    with pytest.raises(ZeroDivisionError):
        spawn(divmod, 1, 0).result(timeout=60)


@pytest.mark.catches('the capabilities of a driver of nova are no traits')
def test_capabilities_are_traits_and_lacking_ones_are_taken_away(nova):
    tree = described(nova)
    assert tree.data('cn1').traits == {'COMPUTE_TRUSTED_CERTS'}
    assert removed(tree) == {
        'COMPUTE_RESCUE_BFV',
        'COMPUTE_REMOTE_MANAGED_PORTS',
    }


@pytest.mark.catches('a PCI device of nova has another uuid each time')
def test_pci_devices_are_children_with_uuids_that_stay(nova):
    nova.configure('[pci]\ndevice_spec = {}\n')
    tree, again = described(nova), described(nova)
    name = 'cn1_0000:01:00.0'
    assert tree.data(name).inventory == {'CUSTOM_PCI': {'total': 1}}
    assert tree.data(name).uuid == again.data(name).uuid
    assert 'COMPUTE_REMOTE_MANAGED_PORTS' in tree.data('cn1').traits


@pytest.mark.catches('a field that a driver of nova omits is reset')
def test_a_field_that_the_driver_omits_stays_as_it_is(nova):
    before = {'total': 4, 'reserved': 3, 'step_size': 2, 'allocation_ratio': 9}
    tree = described(nova, VCPU=before)
    assert tree.data('cn1').inventory == {
        'VCPU': {'total': 2, 'reserved': 2, 'step_size': 2}
    }


def test_an_older_driver_describes_by_its_methods(nova):
    nova.configure('[pci]\ndevice_spec = {}\nreport_in_placement = true\n')
    tree = described(nova, 'nova:small.Older')
    root = tree.data('cn1')
    assert root.inventory == {'VCPU': {'total': 9}}
    assert root.traits == {
        'CUSTOM_OLD',
        'COMPUTE_TRUSTED_CERTS',
        'COMPUTE_REMOTE_MANAGED_PORTS',
    }
    assert tree.data('cn1_0000:01:00.0').inventory
    assert 'COMPUTE_RESCUE_BFV' in removed(tree)


@pytest.mark.parametrize('name', ['Oldest', 'Wavers'])
def test_the_oldest_driver_describes_by_its_resources(nova, name):
    nova.configure('[DEFAULT]\nreserved_host_cpus = 1\n')
    tree = described(nova, f'nova:small.{name}')
    assert not tree.exists('half')
    root = tree.data('cn1')
    assert {
        rc: (record['total'], record['reserved'])
        for rc, record in root.inventory.items()
    } == {'VCPU': (3, 1), 'MEMORY_MB': (512, 512)}
    assert root.traits == {'COMPUTE_TRUSTED_CERTS'}
    assert 'COMPUTE_RESCUE_BFV' in removed(tree)


def test_no_fallback_can_move_allocations(nova):
    made = nova.load('nova:small.Older')
    with pytest.raises(NotImplementedError):
        made.update_provider_tree(nova.tree(), 'cn1', {})


@pytest.mark.catches(
    'PCI devices that a driver of nova does not tell are gone'
)
def test_pci_devices_that_nobody_tells_are_not_gone(nova):
    nova.configure('[pci]\ndevice_spec = {}\nreport_in_placement = true\n')
    with pytest.raises(errors.DriverError, match='Oldest does not tell the P'):
        described(nova, 'nova:small.Oldest')
    nova.configure('[pci]\ndevice_spec = {}\n')
    tree = described(nova, 'nova:small.Oldest')
    assert tree.get_provider_uuids() == [UUID]


def test_a_wish_for_allocations_is_passed_on(nova):
    made = nova.load('nova:small.Moves')
    with pytest.raises(errors.ReshapeNeeded):
        made.update_provider_tree(nova.tree(), 'cn1')
    with pytest.raises(errors.DriverError, match='nova:small.Moves: no room'):
        made.update_provider_tree(nova.tree(), 'cn1', {})


def test_any_failure_of_a_driver_is_one_line(nova):
    with pytest.raises(errors.DriverError) as caught:
        described(nova, 'nova:small.Fails')
    assert 'nova:small.Fails failed: TimeoutError: timed out' in str(
        caught.value
    )
    with pytest.raises(errors.TreeError):
        described(nova, 'nova:small.Careless')


def test_an_option_that_turns_out_wrong_is_an_error_of_the_driver(nova):
    nova.configure('[DEFAULT]\nvcpus = many\n')
    with pytest.raises(
        errors.DriverError, match=r"an option of nova's.*vcpus"
    ):
        described(nova)


@pytest.mark.catches("what nova's conductor would know is taken for nothing")
def test_what_the_conductor_is_asked_has_an_answer_or_is_refused(nova):
    with pytest.raises(
        errors.DriverError, match='conductor for MigrationList'
    ):
        described(nova, 'nova:small.Curious')
    ask = nova.part('nova.objects.base').ask
    assert ask('ServiceList', 'get_all_computes_by_hv_type').objects == []
    instances = ask('InstanceList', 'get_uuids_by_host')
    assert UUID in instances
    assert None not in instances
    exception = nova.part('nova.exception').NovaException
    with pytest.raises(exception, match='InstanceList.get_by_filters'):
        ask('InstanceList', 'get_by_filters')


def test_no_object_of_nova_is_saved(nova):
    nova.load(NAME)
    api = nova.part('nova.objects.base').NovaObject.indirection_api
    node = nova.part('nova.objects').ComputeNode()
    exception = nova.part('nova.exception').NovaException
    for call in (
        lambda: api.object_action(None, node, 'save', (), {}),
        lambda: api.object_backport_versions(None, node, {}),
    ):
        with pytest.raises(exception, match='ComputeNode'):
            call()
