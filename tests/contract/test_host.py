# SPDX-License-Identifier: Apache-2.0
"""The host driver keeps the contract, on a recorded host with two rules.

Its seams are the reading of the host's files and the questions to libvirt.
"""

import functools

import contract_seams
import host_facts
import pytest

from compute_agent import testing
from drivers.host import driver
from drivers.host.rules.files import rule_files
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


class Host:
    """A recorded host, and its rules."""

    def __init__(self, folder):
        case = host_facts.TESTS / 'host_facts/disks.yaml'
        self.recorded = host_facts.make(case, folder)
        # Without libvirt's name for it, the host has the configured name.
        (self.recorded.root / 'libvirt/host.yaml').unlink()
        self.sources = self.recorded.sources()
        self.rules = folder / 'rules.d'
        self.rules.mkdir()
        (self.rules / 'a.yaml').write_text(RULES)

    def driver(self):
        return driver.HostDriver(
            configured=NAME,
            hostname=NAME,
            of=self.sources,
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


class TestHost(testing.DriverContract):
    driver = 'host'

    @pytest.fixture
    def world(self, tmp_path):
        host = Host(tmp_path)
        return testing.World(
            make=host.driver, seams=list(host.seams()), change=host.change
        )
