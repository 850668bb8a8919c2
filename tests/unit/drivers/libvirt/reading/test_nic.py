# SPDX-License-Identifier: Apache-2.0
"""The traits of a network card, by its uplinks."""

import pytest

from drivers import host_files
from drivers.libvirt.devices import node_devices
from drivers.libvirt.reading import nic

PF = node_devices.PciDevice(
    name='pci_0000_81_00_0',
    address='0000:81:00.0',
    vendor='15b3',
    product='1017',
    virt_functions=('0000:81:00.2',),
    pci_class=0x020000,
)


def interface(name, *features):
    return node_devices.NetDevice(
        name=f'net_{name}',
        parent=PF.name,
        interface=name,
        features=frozenset(features) or None,
    )


@pytest.fixture
def answers(tmp_path):
    """Return a function of interfaces: trait → what was found."""

    def found(*interfaces, ports=(), queues=()):
        folder = tmp_path / 'sys/class/net'
        for name, port in dict(ports).items():
            (folder / name).mkdir(parents=True)
            (folder / name / 'phys_port_name').write_text(f'{port}\n')
        for name, number in dict(queues).items():
            for count in range(number):
                (folder / name / f'queues/rx-{count}').mkdir(parents=True)
        devices = node_devices.NodeDevices(pci=(PF,), net=interfaces)
        files = host_files.HostFiles(tmp_path)
        listed = list(nic.findings('child', PF, devices, files))
        assert len({f.trait for f in listed}) == len(listed)
        return {f.trait: f.found.value for f in listed}

    return found


@pytest.mark.parametrize('port', ['pf0vf0', 'c1pf0vf12', 'pf0sf88', '0'])
def test_representors_decide_nothing(answers, port):
    found = answers(
        interface('eth0_rep', 'rx'),
        interface('ens5f0', 'tso', 'tx'),
        ports={'eth0_rep': port, 'ens5f0': 'p0'},
        queues={'eth0_rep': 1, 'ens5f0': 4},
    )
    assert found['HW_NIC_OFFLOAD_TSO'] == 'present'
    assert found['HW_NIC_OFFLOAD_RX'] == 'absent'
    assert found['HW_NIC_MULTIQUEUE'] == 'present'


def test_an_offload_is_one_of_all_uplinks(answers):
    found = answers(
        interface('ens5d1', 'tso', 'tx'),
        interface('ens5', 'tx'),
        queues={'ens5d1': 2, 'ens5': 1},
    )
    assert found['HW_NIC_OFFLOAD_TX'] == 'present'
    assert found['HW_NIC_OFFLOAD_TSO'] == 'absent'
    assert found['HW_NIC_MULTIQUEUE'] == 'absent'


def test_an_uplink_that_is_unknown_makes_what_the_other_has_unknown(answers):
    found = answers(interface('ens5d1'), interface('ens5', 'tx'))
    assert found['HW_NIC_OFFLOAD_TX'] == 'unknown'
    assert found['HW_NIC_OFFLOAD_TSO'] == 'absent'
    assert found['HW_NIC_MULTIQUEUE'] == 'unknown'


def test_a_pf_without_an_interface_has_virtual_functions(answers):
    found = answers()
    assert found.pop('HW_NIC_SRIOV') == 'present'
    assert set(found.values()) == {'unknown'}
