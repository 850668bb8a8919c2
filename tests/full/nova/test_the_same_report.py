# SPDX-License-Identifier: Apache-2.0
"""Placement after the agent's report of a nova driver, and after nova's own.

Nova's resource tracker and report client report each driver to the placement
that the agent then reports it to (``both.py``).
"""

import re

FAKES = (
    'fake.FakeDriver',
    'fake.SmallFakeDriver',
    'fake.SameHostColdMigrateDriver',
    'fake.RescueBFVDriver',
    'fake.MediumFakeDriverWithNestedCustomResources',
    'fake.FakeLiveMigrateDriverWithNestedCustomResources',
    'fake.FakeDriverWithPciResources',
    'fake.EphEncryptionDriverLUKS',
    'fake.EphEncryptionDriverPLAIN',
    'fake.FakeDriverWithoutFakeNodes',
    'rack_drivers.SeveralNodes',
)
NORTH = '2a1e6c3e-2f59-4c0e-8c45-8d5a6b0c1e01'
CONSUMER = '33333333-3333-4333-8333-333333333333'
OPTIONS = """
[DEFAULT]
cpu_allocation_ratio = 2.5
initial_ram_allocation_ratio = 1.5
reserved_host_cpus = 1
reserved_host_memory_mb = 1024
reserved_host_disk_mb = 1500
[compute]
image_type_exclude_list = raw
"""
PCI = """
[pci]
report_in_placement = true
device_spec = {"address": "0000:01:00.1", "resource_class": "CUSTOM_VF", "traits": "CUSTOM_BLUE"}
device_spec = {"address": "0000:02:00.1", "resource_class": "CUSTOM_VF", "remote_managed": "true"}
device_spec = {"address": "0000:03:00.0", "resource_class": "CUSTOM_CARD", "one_time_use": "true"}
"""
REFUSALS = {
    'rack_drivers.CannotMove': 'migration failed: no card has room',
    'rack_drivers.NotReady': 'Virt driver is not ready.',
    'rack_drivers.AsksTheConductor': (
        "asks nova's conductor for MigrationList.get_by_filters"
    ),
}


def check(found):
    """Check that both reported the same, and the agent all of it at once."""
    for name, one in found.items():
        assert not one.failure, name
        assert one.by_nova, name
        assert one.differences() == {}, name
        assert one.sync['code'] == 0, one.sync
        assert one.plan['code'] == 0, one.plan


def root(uuid, name='rack-north'):
    return ('POST', '/resource_providers', {'uuid': uuid, 'name': name})


def inventories(uuid, generation=0, **totals):
    return (
        'PUT',
        f'/resource_providers/{uuid}/inventories',
        {
            'resource_provider_generation': generation,
            'inventories': totals,
        },
    )


def traits(uuid, generation, *names):
    return (
        'PUT',
        f'/resource_providers/{uuid}/traits',
        {'resource_provider_generation': generation, 'traits': list(names)},
    )


def test_novas_fake_drivers(beside_nova):
    found = beside_nova.reports(*FAKES)
    check(found)
    nested = found['fake.MediumFakeDriverWithNestedCustomResources']
    assert nested.by_the_agent['cn1-child']['inventories'].keys() == {
        'CUSTOM_MAGIC'
    }
    north, *_, south = sorted(found['rack_drivers.SeveralNodes'].by_the_agent)
    assert (north, south) == ('rack-north', 'rack-south-chassis')


def test_novas_options_reach_novas_driver(beside_nova):
    beside_nova.configure(OPTIONS)
    found = beside_nova.reports('fake.SmallFakeDriver')
    check(found)
    held = found['fake.SmallFakeDriver'].by_the_agent['cn1']
    assert held['inventories']['VCPU']['allocation_ratio'] == 2.5
    assert held['inventories']['VCPU']['reserved'] == 1
    assert held['inventories']['MEMORY_MB']['allocation_ratio'] == 1.5
    assert held['inventories']['DISK_GB']['reserved'] == 2
    assert 'COMPUTE_IMAGE_TYPE_RAW' not in held['traits']


def test_novas_pci_devices_and_remote_ports(beside_nova):
    beside_nova.configure(PCI)
    plain, remote = ('fake.FakeDriverWithPciResources', 'rack_drivers.Remote')
    found = beside_nova.reports(plain, remote)
    check(found)
    held = found[plain].by_the_agent
    assert set(held) == {'cn1', 'cn1_0000:01:00.0', 'cn1_0000:03:00.0'}
    assert 'COMPUTE_REMOTE_MANAGED_PORTS' not in held['cn1']['traits']
    root = found[remote].by_the_agent['cn1']
    assert 'COMPUTE_REMOTE_MANAGED_PORTS' in root['traits']


def test_the_names_of_operators_and_what_the_driver_takes_away(beside_nova):
    before = [
        ('PUT', '/traits/CUSTOM_FREE', None),
        ('PUT', '/traits/CUSTOM_HAND', None),
        root(NORTH),
        traits(
            NORTH,
            0,
            'CUSTOM_FREE',
            'CUSTOM_HAND',
            'COMPUTE_VOLUME_MULTI_ATTACH',
        ),
        inventories(
            NORTH,
            1,
            VCPU={'total': 1, 'allocation_ratio': 8.0},
            PCPU={'total': 1},
        ),
    ]
    found = beside_nova.reports('rack_drivers.SeveralNodes', before=before)
    check(found)
    held = found['rack_drivers.SeveralNodes'].by_the_agent['rack-north']
    assert 'CUSTOM_HAND' in held['traits']
    assert 'CUSTOM_FREE' not in held['traits']
    assert 'COMPUTE_VOLUME_MULTI_ATTACH' not in held['traits']
    assert held['inventories']['VCPU']['allocation_ratio'] == 8.0
    assert 'PCPU' not in held['inventories']


def test_allocations_move_to_the_card_that_the_driver_names(beside_nova):
    before = [
        root(NORTH),
        inventories(NORTH, VGPU={'total': 4}, VCPU={'total': 2}),
        (
            'PUT',
            f'/allocations/{CONSUMER}',
            {
                'allocations': {NORTH: {'resources': {'VGPU': 2, 'VCPU': 1}}},
                'project_id': 'p',
                'user_id': 'u',
                'consumer_generation': None,
                'consumer_type': 'INSTANCE',
            },
        ),
    ]
    found = beside_nova.reports('rack_drivers.MovesGpus', before=before)
    check(found)
    held = found['rack_drivers.MovesGpus'].by_the_agent
    assert held['rack-north']['allocations'] == {CONSUMER: {'VCPU': 1}}
    assert held['rack-north-card']['allocations'] == {CONSUMER: {'VGPU': 2}}


def test_novas_refusals_are_one_line_and_nothing_is_written(beside_nova):
    found = beside_nova.reports(*REFUSALS)
    for target, why in REFUSALS.items():
        assert found[target].sync['code'] == 1
        assert found[target].by_the_agent == {}
        said = found[target].sync['out'] + found[target].sync['err']
        assert 'Traceback' not in said
        (why_not,) = {
            line.partition(f'nova:{target}: ')[2]
            for line in said.splitlines()
            if f'nova:{target}: ' in line
        }
        assert why in why_not


def test_a_host_without_an_identity_gets_the_agents(beside_nova):
    beside_nova.configure(has_identity=False)
    driver = 'nova:fake.FakeDriverWithoutFakeNodes'
    done = beside_nova.command(driver, 'sync', '--yes')
    assert done.returncode == 0, done.stderr
    (uuid,) = re.findall(r'cn1 \(([0-9a-f-]{36})\): done', done.stdout)
    assert not (beside_nova.state / 'compute_id').exists()
    again = beside_nova.command(driver, 'plan')
    assert (again.returncode, again.stderr) == (0, '')
    assert f'cn1 ({uuid})\n  nothing to do' in again.stdout
