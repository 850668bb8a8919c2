# SPDX-License-Identifier: Apache-2.0
"""What a description asks and reads again while the host stays as it is."""

import collections
import dataclasses
import shutil

import pytest
import recorded_hosts

from drivers.libvirt import driver
from drivers.libvirt.devices import node_devices

NOVA_CONF = """
[pci]
report_in_placement = true
device_spec = {"vendor_id": "144d"}
[libvirt]
virt_type = kvm
"""
ABOUT_GUESTS = {'capabilities', 'domain_capabilities'}


class Counted:
    """A libvirt that counts the questions."""

    def __init__(self, asked):
        self._asked = asked
        self.questions = collections.Counter()

    def __getattr__(self, name):
        self.questions[name] += 1
        return getattr(self._asked, name)


class Host:
    """The driver of a recorded host that may change."""

    def __init__(self, folder, path):
        self.folder = folder
        path.write_text(NOVA_CONF)
        of = recorded_hosts.sources_of(folder)
        self.libvirt = Counted(of.libvirt)
        self._driver = driver.LibvirtDriver.on_host(
            recorded_hosts.configuration(path),
            dataclasses.replace(of, libvirt=self.libvirt),
        )
        self._name = self._driver.get_available_nodes()[0]
        self._placed = {self._name: {'inventory': {}, 'traits': []}}

    def cycle(self):
        """Describe the host; return its children, and the questions."""
        self.libvirt.questions.clear()
        tree = recorded_hosts.placed(self._placed)
        self._driver.update_provider_tree(tree, self._name)
        self._placed = recorded_hosts.plain(tree)
        return set(self._placed) - {self._name}, self.libvirt.questions


@pytest.fixture
def host(tmp_path):
    """A host with contexts of encrypted guests and with eight NVMe."""
    folder = shutil.copytree(
        recorded_hosts.HOSTS / 'encryption-sev', tmp_path / 'host'
    )
    shutil.copytree(
        recorded_hosts.HOSTS / 'nvme-eight/libvirt/node_devices',
        folder / 'libvirt/node_devices',
    )
    return Host(folder, tmp_path / 'nova.conf')


def test_nothing_is_asked_about_guests_again(host):
    found, first = host.cycle()
    assert first.keys() >= ABOUT_GUESTS
    assert any(name.endswith('amd_sev') for name in found)
    again, second = host.cycle()
    assert again == found
    assert not ABOUT_GUESTS & second.keys()


def test_each_kind_of_guest_is_asked_about_once(host):
    """The contexts of encrypted guests follow from the same answers."""
    _, first = host.cycle()
    assert first['domain_capabilities'] == 4
    # pc for the features of its processors, twice, then pc and q35.


def test_the_same_documents_are_read_once(host, monkeypatch):
    read = []
    parse = node_devices.read
    monkeypatch.setattr(
        node_devices, 'read', lambda found: read.append(1) or parse(found)
    )
    found, questions = host.cycle()
    assert questions['node_devices'] == 1
    again, questions = host.cycle()
    assert questions['node_devices'] == 1
    assert len(read) == 1
    assert again == found


def test_another_document_of_a_device_is_noticed_at_once(host):
    """libvirt tells neither an event nor a number for each change."""
    found, _ = host.cycle()
    one = next((host.folder / 'libvirt/node_devices').glob('pci_*.xml'))
    one.write_text(one.read_text().replace('144d', 'dead'))
    again, _ = host.cycle()
    assert len(found - again) == 1
