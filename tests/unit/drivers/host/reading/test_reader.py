# SPDX-License-Identifier: Apache-2.0
"""Facts are kept exactly while something tells that they did not change."""

import dataclasses
import os

import host_facts as recorded_hosts
import pytest

from drivers import host_files
from drivers.host.reading import local, reader


class Events:
    """Events of devices that a test counts itself."""

    def __init__(self, number=0):
        self.number = number

    def count(self):
        return self.number


@pytest.fixture
def host(tmp_path):
    case = recorded_hosts.TESTS / 'host_facts/gpu-host.yaml'
    made = recorded_hosts.make(case, tmp_path)
    path = made.root / 'proc/sys/kernel/random/boot_id'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('first\n')
    return made


def _rebind(host):
    link = host.root / 'sys/bus/pci/devices/0000:61:00.0/driver'
    link.unlink()
    link.symlink_to('../../../../bus/pci/drivers/nvidia')


def _driver(facts):
    return {
        device.name: device.facts['driver'].value
        for device in facts.devices['pci']
    }['0000:61:00.0']


def test_devices_are_read_again_after_an_event(host):
    events = Events()
    facts = reader.FactReader(host.sources(events))
    assert _driver(facts.read()) == 'vfio-pci'
    _rebind(host)
    assert _driver(facts.read()) == 'vfio-pci'
    events.number += 1
    assert _driver(facts.read()) == 'nvidia'


def test_devices_are_read_each_time_if_no_events_are_heard(host):
    facts = reader.FactReader(host.sources(Events(None)))
    facts.read()
    _rebind(host)
    assert _driver(facts.read()) == 'nvidia'


def test_devices_are_read_again_after_ten_minutes(host):
    now = [1000.0]
    facts = reader.FactReader(host.sources(Events()), lambda: now[0])
    facts.read()
    _rebind(host)
    now[0] += reader.DEVICES_KEPT
    assert _driver(facts.read()) == 'nvidia'


def test_the_configuration_is_read_again_after_a_restart(host):
    facts = reader.FactReader(host.sources())
    assert facts.read().facts['kernel.config'].value['KVM'] == 'm'
    path = host.root / 'boot/config-6.8.0-45-generic'
    before = path.stat()
    path.write_text('CONFIG_KVM=y\n')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert facts.read().facts['kernel.config'].value['KVM'] == 'm'
    (host.root / 'proc/sys/kernel/random/boot_id').write_text('second\n')
    assert facts.read().facts['kernel.config'].value['KVM'] == 'y'


def test_an_unchanged_host_is_read_with_few_files(host):
    """It bounds the work of a cycle without a clock."""

    class Counting(host_files.HostFiles):
        asked = 0

        def read(self, path):
            self.asked += 1
            return super().read(path)

    files = Counting(host.root, 'x86_64')
    sources = dataclasses.replace(host.sources(Events()), files=files)
    facts = reader.FactReader(sources)
    facts.read()
    cold, files.asked = files.asked, 0
    facts.read()
    assert files.asked < cold * 0.6


def test_a_refused_file_makes_other_local_facts_unknown(host, tmp_path):
    folder = tmp_path / 'facts.d'
    folder.mkdir()
    (folder / 'a').write_text('rack=r12\n')
    (folder / 'b').symlink_to('a')
    sources = dataclasses.replace(
        host.sources(), local=local.LocalFacts([str(folder)])
    )
    facts = reader.FactReader(sources).read()
    assert facts.get('local.rack').value == 'r12'
    assert 'symbolic link' in facts.get('local.row').unknown
    assert len(facts.faults) == 1
