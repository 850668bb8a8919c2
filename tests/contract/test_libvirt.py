# SPDX-License-Identifier: Apache-2.0
"""The libvirt driver keeps the contract, on a recorded host.

Its seams are the questions to libvirt and the reading of the host's files.
"""

import dataclasses
import shutil
from typing import ClassVar

import contract_seams
import pytest
import recorded_hosts
import recorded_libvirt
import shipped

from compute_agent import testing
from drivers import host_files
from drivers.libvirt import driver
from drivers.libvirtd import hypervisor

pytestmark = pytest.mark.long  # half a minute; make test has the other drivers
HOST = recorded_hosts.HOSTS / 'gpu-sriov-mdev'
CARD = '[devices]\nenabled_mdev_types = nvidia-591\n'
DEVICE = '9d0f4d4e-51f4-4a7a-9a3e-51f0c2b7d003'  # of this card
GUEST = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
QUESTIONS = (
    'hostname',
    'versions',
    'capabilities',
    'domain_capabilities',
    'baseline_hypervisor_cpu',
    'memory_mib',
    'processors',
    'node_devices',
    'domains',
)


class Libvirt(recorded_libvirt.Recorded):
    """The hypervisor of a recorded host, which fails as libvirtd does."""

    _outage = ''
    _wake = None

    def subscribe(self, wake, *, awaits_guests):
        self._wake = wake

    def close(self):
        self._wake = None

    def event(self):
        """Tell of a device, as libvirtd does."""
        if self._wake is not None:
            self._wake()

    def unanswered(self):
        told, self._outage = self._outage, ''
        return told

    def failed(self):
        """Return the error of a question that libvirtd does not answer."""
        self._outage = 'libvirt does not answer: timed out'
        return hypervisor.Unanswered(self._outage)


class Files(host_files.HostFiles):
    """The files of a host whose architecture ``uname`` tells, too."""

    def file_system_bytes(self, path):
        return recorded_hosts.SIZE


class Host:
    """A recorded host in a folder of its own."""

    def __init__(self, folder):
        shutil.copytree(HOST, folder)
        self.folder = folder
        self.libvirt = Libvirt(folder / 'libvirt')
        self.sources = dataclasses.replace(
            recorded_hosts.sources_of(folder),
            libvirt=self.libvirt,
            files=Files(folder, machine='x86_64'),
        )

    def driver(self):
        conf = recorded_hosts.configuration(self.folder / 'nova.conf')
        return driver.LibvirtDriver.on_host(conf, self.sources)

    def change(self):
        """Bring a second processor online."""
        told = self.folder / 'libvirt/host.yaml'
        before, after = (
            f'{{present: "{ids}", online: "{ids}"}}' for ids in ('0', '0-1')
        )
        text = told.read_text()
        assert before in text
        told.write_text(text.replace(before, after))

    def reported(self):
        """Return what nova reported before a graphics card was a provider.

        A guest has a device of the card.
        """
        (self.folder / 'nova.conf').write_text(CARD)
        guests = self.folder / 'libvirt/domains'
        guests.mkdir()
        (guests / f'{GUEST}.xml').write_text(
            f"<domain><uuid>{GUEST}</uuid><devices><hostdev type='mdev'>"
            f"<source><address uuid='{DEVICE}'/></source></hostdev></devices>"
            '</domain>'
        )
        return {
            'compute1': {
                'uuid': testing.HOST_UUID,
                'inventories': {'VGPU': 6, 'VCPU': 1},
                'allocations': {GUEST: {'VGPU': 1, 'VCPU': 1}},
            }
        }

    def seams(self):
        for question in QUESTIONS:
            yield testing.Seam(
                'libvirtd',
                self.libvirt,
                question,
                timeout=self.libvirt.failed,
                error=self.libvirt.failed,
            )
        yield from contract_seams.of_files(self.sources.files)


class TestLibvirt(shipped.ShippedContract):
    driver = 'libvirt'
    capabilities = (testing.Capability.RESHAPE,)
    skips: ClassVar = {
        **shipped.ONE_NODE_RULES,
        **shipped.NO_CHANGES,
        **shipped.NO_SERVER,
        'CA023': 'it asks libvirt anew in each cycle, and promises no facts',
        'CA027': 'its options do not name the recorded host',
    }

    @pytest.fixture
    def world(self, tmp_path):
        host = Host(tmp_path / 'host')
        return testing.World(
            make=host.driver,
            seams=list(host.seams()),
            change=host.change,
            event=host.libvirt.event,
            reported=host.reported,
            expected={'compute1': {'inventories': {'MEMORY_MB': 262144}}},
        )
