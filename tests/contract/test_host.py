# SPDX-License-Identifier: Apache-2.0
"""The host driver keeps the contract, on a recorded host with two rules.

Its seams are the reading of the host's files and the questions to libvirt.
"""

import dataclasses
import functools
import queue
import types
from typing import ClassVar

import contract_seams
import host_facts
import pytest
import shipped

from compute_agent import testing
from drivers.host import driver, events, rule_files
from drivers.libvirtd import hypervisor

pytestmark = pytest.mark.long  # half a minute; make test has the other drivers
NAME = 'cn1'
RULES = """
rules:
- name: storage
  when: block.exists(d, d.transport == 'nvme')
  traits: [CUSTOM_NVME_HOST]
- name: disks
  for_each: block
  when: device.transport == 'nvme' && !device.read_only
  child: '{node}_{device.name}'
  traits: [STORAGE_DISK_SSD]
  inventory: {CUSTOM_DISK_GB: device.size_bytes / 1000000000}
"""


class Monitor:
    """A socket with the events that a test sends."""

    def __init__(self):
        self._sent = queue.SimpleQueue()

    def start(self):
        """Do nothing: it listens from the beginning."""

    def set_receive_buffer_size(self, size):
        """Do nothing: the queue has no end."""

    def poll(self, timeout=None):
        try:
            return self._sent.get(timeout=timeout)
        except queue.Empty:
            return None

    def event(self):
        path = '/devices/pci0000:00/0000:00:02.0'
        self._sent.put(types.SimpleNamespace(device_path=path))


class Host:
    """A recorded host, and its rules."""

    def __init__(self, folder):
        case = host_facts.TESTS / 'host_facts/disks.yaml'
        self.recorded = host_facts.make(case, folder)
        # Without libvirt's name for it, the host has the configured name.
        (self.recorded.root / 'libvirt/host.yaml').unlink()
        self.sources = self.recorded.sources()
        self.monitor = Monitor()
        self.rules = folder / 'rules.d'
        self.rules.mkdir()
        (self.rules / 'a.yaml').write_text(RULES)

    def driver(self):
        heard = events.DeviceEvents(lambda: self.monitor)
        return driver.HostDriver(
            configured=NAME,
            hostname=NAME,
            heard=heard,
            of=dataclasses.replace(self.sources, events=heard),
            read_rules=functools.partial(
                rule_files.read,
                str(self.rules),
                driver.WORDS,
                given=True,
                starter=False,
            ),
        )

    def seams(self):
        yield from contract_seams.of_files(self.sources.files)
        yield testing.Seam(
            'libvirtd',
            self.sources.libvirt,
            'capabilities',
            timeout=lambda: hypervisor.Unanswered('timed out'),
            error=lambda: hypervisor.Unanswered('cannot connect'),
        )

    def change(self):
        """Make every disk read-only."""
        for disk in (self.recorded.root / 'sys/block').iterdir():
            (disk / 'ro').write_text('1\n')


class TestHost(shipped.ShippedContract):
    driver = 'host'
    skips: ClassVar = {
        **shipped.ONE_NODE_RULES,
        **shipped.NO_CHANGES,
        **shipped.NO_SERVER,
        **dict.fromkeys(
            ('CA011', 'CA012', 'CA013'),
            'the kernel gives a file whole, and libvirt has no answer here',
        ),
        'CA023': 'it reads the host anew in each cycle, and promises no facts',
        'CA024': 'it decides no trait alone: its rules declare what they give',
        'CA027': 'its options do not name the recorded host',
        'CA031': 'it never asks for allocations',
    }

    @pytest.fixture
    def world(self, tmp_path):
        host = Host(tmp_path)
        return testing.World(
            make=host.driver,
            seams=list(host.seams()),
            change=host.change,
            event=host.monitor.event,
            expected={
                'cn1_nvme0n1': {'inventories': {'CUSTOM_DISK_GB': 3840}}
            },
        )
