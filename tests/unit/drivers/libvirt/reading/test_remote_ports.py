# SPDX-License-Identifier: Apache-2.0
"""A host with VFs for remote-managed ports has the trait that requests ask for.

The recorded card 0000:a1:00.0 has a serial number and two VFs, the card
0000:81:00.0 has VFs and no serial number. Their VFs are in a physical network
here, so none of them is in placement.
"""

import json
import shutil

import pytest
import recorded_hosts

from compute_agent.virt.values import finding

TRAIT = 'COMPUTE_REMOTE_MANAGED_PORTS'
ABSENT, PRESENT, UNKNOWN = (
    finding.Found.ABSENT,
    finding.Found.PRESENT,
    finding.Found.UNKNOWN,
)
SMART = {
    'product_id': '101e',
    'physical_network': 'physnet2',
    'remote_managed': 'true',
}


class Host:
    """A copy of the recorded host."""

    def __init__(self, folder):
        self._folder = folder
        self.libvirt = folder / 'host/libvirt'
        shutil.copytree(
            recorded_hosts.HOSTS / 'nic-virtual-functions', folder / 'host'
        )

    def driver(self, *specs):
        path = self._folder / 'nova.conf'
        lines = [f'device_spec = {json.dumps(spec)}' for spec in specs]
        path.write_text('\n'.join(['[pci]', *lines, '']))
        return recorded_hosts.driver_on(self._folder / 'host', path)

    def finding(self, *specs):
        libvirt = self.driver(*specs)
        (found,) = (
            one for one in libvirt.evidence('compute1') if one.trait == TRAIT
        )
        return found


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_the_trait_is_on_the_host_though_no_device_is_in_placement(host):
    libvirt = host.driver(SMART)
    tree = recorded_hosts.empty_tree(libvirt)
    recorded_hosts.describe(libvirt, tree)
    ((_, root),) = recorded_hosts.plain(tree).items()
    assert TRAIT in root['traits']
    assert TRAIT in libvirt.authority
    assert '0000:a1:00.' in host.finding(SMART).fact


@pytest.mark.parametrize(
    ('specs', 'found'),
    [
        ([], ABSENT),
        ([{**SMART, 'remote_managed': 'false'}], ABSENT),
        ([{**SMART, 'product_id': '154c'}], ABSENT),
        ([{'product_id': '101e'}, SMART], ABSENT),
        ([{'devname': 'ens5f0'}, SMART], PRESENT),
        ([{**SMART, 'product_id': '*', 'devname': 'ens5f0'}], ABSENT),
        ([{**SMART, 'devname': 'gone'}], ABSENT),
        ([{'address': '0000:a1:00.0', 'remote_managed': 'true'}], UNKNOWN),
    ],
)
def test_an_entry_has_to_select_a_device_with_a_serial_number(
    specs, found, host
):
    assert host.finding(*specs).found is found


def test_an_older_libvirt_tells_no_serial_number(host):
    path = host.libvirt / 'host.yaml'
    text = path.read_text()
    release = text.partition('libvirt: ')[2].partition(',')[0]
    path.write_text(text.replace(f'libvirt: {release}', 'libvirt: 7.8.0'))
    assert host.finding(SMART).found is ABSENT


def test_devices_that_are_not_listed_are_unknown(host):
    shutil.rmtree(host.libvirt / 'node_devices')
    assert host.finding(SMART).found is UNKNOWN


def test_a_device_that_cannot_be_read_may_be_such_a_one(host):
    for path in host.libvirt.glob('node_devices/pci_0000_a1_00_*.xml'):
        path.write_text('<device>')
    assert host.finding(SMART).found is UNKNOWN
