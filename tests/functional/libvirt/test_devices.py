# SPDX-License-Identifier: Apache-2.0
"""The children of a hypervisor in placement: made, in error, in use, gone.

Each test changes a copy of a recorded host between the cycles.
"""

import shutil

from agents import NODE

from compute_agent.tree import provider_tree

ROOT = 'compute1'
DRIVES = (
    '[pci]\nreport_in_placement = true\ndevice_spec = {"vendor_id": "144d"}\n'
)
FUNCTIONS = (
    '[pci]\nreport_in_placement = true\ndevice_spec = {"product_id": "101e"}\n'
)
CARDS = '[devices]\nenabled_mdev_types = nvidia-230\n'
RC = 'CUSTOM_PCI_144D_A80A'
FATAL = 'CUSTOM_RESERVED_AER_FATAL'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'


def child(suffix):
    return provider_tree.derived_uuid(NODE, f'{ROOT}_{suffix}')


def names(placement):
    found = placement.get(f'/resource_providers?in_tree={NODE}')
    return {one['name'] for one in found['resource_providers']}


def reserved(operator, uuid, rc=RC):
    return operator.inventories(uuid)[rc]['reserved']


def fatal_errors(folder, address, count):
    path = folder / 'sys/bus/pci/devices' / address / 'aer_dev_fatal'
    path.write_text(f'Undefined 0\nTOTAL_ERR_FATAL {count}\n')


def test_a_second_cycle_writes_nothing(agent_on, host, placement):
    agent = agent_on(host('nic-virtual-functions'), FUNCTIONS)
    agent.done()
    assert f'{ROOT}_0000:A1:00.0' in names(placement)
    placement.clear()
    agent.done()
    assert not placement.writes


def test_a_device_in_error_is_reserved_until_it_is_well(
    agent_on, host, operator
):
    folder = host('nvme-eight')
    agent = agent_on(folder, DRIVES)
    agent.done()
    drive, other = child('0000:C1:00.0'), child('0000:C2:00.0')
    operator.add_traits('CUSTOM_RACK_7', uuid=drive)
    fatal_errors(folder, '0000:c1:00.0', 2)
    (result,) = agent.done()
    assert reserved(operator, drive) == 1
    assert reserved(operator, other) == 0
    assert {FATAL, 'CUSTOM_RACK_7'} <= operator.traits(drive)
    (note,) = [note for note in result.notes if FATAL in note]
    assert 'aer_dev_fatal' in note
    fatal_errors(folder, '0000:c1:00.0', 3)
    (result,) = agent.done()
    assert note in result.notes
    fatal_errors(folder, '0000:c1:00.0', 0)
    agent.done()
    assert reserved(operator, drive) == 0
    assert FATAL not in operator.traits(drive)
    assert 'CUSTOM_RACK_7' in operator.traits(drive)


def test_a_device_that_is_gone_goes_unless_a_guest_has_it(
    agent_on, host, operator, placement
):
    folder = host('nvme-eight')
    agent = agent_on(folder, DRIVES)
    agent.done()
    operator.allocate(CONSUMER, RC, child('0000:C1:00.0'))
    for bus in ('c1', 'c2'):
        path = f'libvirt/node_devices/pci_0000_{bus}_00_0.xml'
        (folder / path).unlink()
    agent.sync()
    assert f'{ROOT}_0000:C2:00.0' not in names(placement)
    assert f'{ROOT}_0000:C1:00.0' in names(placement)
    assert reserved(operator, child('0000:C1:00.0')) == 1
    placement.delete(f'/allocations/{CONSUMER}')
    agent.done()
    assert f'{ROOT}_0000:C1:00.0' not in names(placement)


def test_a_listing_that_fails_leaves_the_children(
    agent_on, host, operator, placement
):
    folder = host('nvme-eight')
    agent = agent_on(folder, DRIVES)
    agent.done()
    before = names(placement)
    shutil.move(folder / 'libvirt/node_devices', folder / 'away')
    placement.clear()
    agent.done()
    assert names(placement) == before
    assert not placement.writes
    assert reserved(operator, child('0000:C1:00.0')) == 0


def test_a_device_that_cannot_be_read_hides_no_other(
    agent_on, host, operator, placement
):
    folder = host('gpu-three-cards')
    agent = agent_on(folder, CARDS)
    agent.done()
    devices = folder / 'libvirt/node_devices'
    (devices / 'pci_0000_3b_00_0.xml').write_text('<device')
    text = (devices / 'pci_0000_5e_00_0.xml').read_text()
    (devices / 'pci_0000_5e_00_0.xml').write_text(text.replace('>16<', '>12<'))
    agent.done()
    cards = [child(f'pci_0000_{bus}_00_0') for bus in ('3b', '5e', '86')]
    totals = [operator.inventories(card)['VGPU']['total'] for card in cards]
    assert totals == [16, 12, 16]


def test_a_parent_whose_driver_is_gone_is_reserved(agent_on, host, operator):
    folder = host('gpu-three-cards')
    agent = agent_on(folder, CARDS)
    agent.done()
    path = folder / 'libvirt/node_devices/pci_0000_86_00_0.xml'
    kept = path.read_text()
    before, _, rest = kept.partition("    <capability type='mdev_types'>")
    path.write_text(before + rest.partition('</capability>\n')[2])
    agent.done()
    card = child('pci_0000_86_00_0')
    assert operator.inventories(card)['VGPU']['total'] == 16
    assert reserved(operator, card, 'VGPU') == 16
    assert 'CUSTOM_RESERVED_NO_MDEV_TYPES' in operator.traits(card)
    path.write_text(kept)
    agent.done()
    assert reserved(operator, card, 'VGPU') == 0
    assert 'CUSTOM_RESERVED_NO_MDEV_TYPES' not in operator.traits(card)


def test_a_parent_without_power_is_reserved(agent_on, host, operator):
    folder = host('gpu-sriov-mdev')
    files = folder / 'sys/bus/pci/devices/0000:41:00.0'
    files.mkdir(parents=True)
    (files / 'power_state').write_text('D3cold\n')
    (files / 'power').mkdir()
    (files / 'power/runtime_status').write_text('active\n')
    agent_on(folder, CARDS.replace('230', '591')).done()
    function = child('pci_0000_41_00_4')
    assert reserved(operator, function, 'VGPU') == 1
    assert 'CUSTOM_RESERVED_D3COLD' in operator.traits(function)


def test_types_taken_out_of_nova_conf_take_their_children_away(
    agent_on, host, placement
):
    folder = host('gpu-three-cards')
    agent = agent_on(folder, CARDS)
    agent.done()
    assert len(names(placement)) == 4
    agent_on(folder, '', state=agent.state).done()
    assert names(placement) == {ROOT}


def test_a_reserve_of_an_operator_stays_on_a_pci_device(
    agent_on, host, operator
):
    agent = agent_on(host('nvme-eight'), DRIVES)
    agent.done()
    operator.change_inventory(RC, child('0000:C4:00.0'), reserved=1)
    agent.done()
    assert reserved(operator, child('0000:C4:00.0')) == 1


def test_marks_and_nova_s_traits_go_also_without_a_record(
    agent_on, host, operator, placement
):
    placement.put('/resource_classes/' + RC)
    operator.create(NODE, ROOT)
    drive = '22222222-2222-4222-8222-222222222222'
    operator.create(drive, f'{ROOT}_0000:C1:00.0', NODE)
    operator.set_inventories({RC: {'total': 1, 'reserved': 1}}, drive)
    mine = {'OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE'}
    operator.add_traits(
        *mine, 'HW_PCI_LIVE_MIGRATABLE', FATAL, 'CUSTOM_HAND', uuid=drive
    )
    agent_on(host('nvme-eight'), DRIVES).done()
    assert operator.traits(drive) == mine | {'CUSTOM_HAND'}
    assert reserved(operator, drive) == 0


def test_a_request_for_sev_gets_a_context_of_sev(agent_on, host, placement):
    agent_on(host('encryption-sev-es'), '').done()
    found = placement.get(
        '/allocation_candidates?resources=MEM_ENCRYPTION_CONTEXT:1'
        '&required=HW_CPU_X86_AMD_SEV'
    )
    offered = [set(one['allocations']) for one in found['allocation_requests']]
    assert offered == [{child('amd_sev')}]
