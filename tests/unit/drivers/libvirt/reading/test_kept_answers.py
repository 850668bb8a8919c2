# SPDX-License-Identifier: Apache-2.0
"""Answers about guests are kept while what they depend on stays the same.

nova reads them once per process, so that an upgrade is not seen before a
restart (fault 15).
"""

import pytest
import recorded_libvirt

from compute_agent import errors
from compute_agent.virt.values import finding
from drivers.libvirt.capabilities import facts
from drivers.libvirt.cpu import guest_cpu
from drivers.libvirt.reading import guests
from drivers.libvirtd import hypervisor

HOST = guests.Host(machine='x86_64', identity=('boot-1', 'microcode-1'))
CAPABILITIES = """
<capabilities>
  <host><cpu><arch>x86_64</arch></cpu></host>
  <guest><arch name='x86_64'><emulator>/usr/bin/qemu</emulator></arch></guest>
</capabilities>
"""
DOMAIN = """
<domainCapabilities><cpu>
  <mode name='host-model' supported='yes'><model>EPYC</model></mode>
</cpu></domainCapabilities>
"""

CUSTOM = """
<domainCapabilities><cpu>
  <mode name='custom' supported='yes'><model usable='yes'>EPYC</model></mode>
</cpu></domainCapabilities>
"""


class Libvirt(recorded_libvirt.Recorded):
    """A libvirt that counts the questions about guests."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked = 0
        self.fails = False
        self.refuses = False
        self.listed = CAPABILITIES
        self.domain = DOMAIN
        self.number = 1
        self.qemu = (7, 2, 0)

    def session(self):
        return self.number

    def versions(self):
        return hypervisor.Versions(
            libvirt=(9, 0, 0), hypervisor=self.qemu, kind='QEMU'
        )

    def capabilities(self):
        self.asked += 1
        if self.fails:
            raise hypervisor.Unanswered('libvirtd is restarting')
        return self.listed

    def domain_capabilities(self, request, flags=0):
        if flags and self.refuses:
            raise hypervisor.Unanswered('libvirtd is restarting')
        return self.domain


@pytest.fixture
def libvirt(tmp_path):
    return Libvirt(tmp_path)


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def reader(libvirt, clock):
    return guests.GuestReader(
        libvirt,
        facts.GuestOptions(),
        lambda argv: 'name "e1000", bus PCI\n',
        lambda: clock[0],
    )


def test_an_answer_is_kept(reader, libvirt):
    first = reader.read(HOST)
    assert reader.read(HOST) is first
    assert libvirt.asked == 1


@pytest.mark.parametrize(
    'change',
    [
        lambda libvirt: setattr(libvirt, 'number', 2),
        lambda libvirt: setattr(libvirt, 'qemu', (8, 0, 0)),
    ],
)
def test_another_libvirtd_or_hypervisor_is_asked_again(
    reader, libvirt, change
):
    reader.read(HOST)
    change(libvirt)
    reader.read(HOST)
    assert libvirt.asked == 2


def test_another_microcode_or_firmware_is_asked_again(reader, libvirt):
    reader.read(HOST)
    reader.read(guests.Host(machine='x86_64', identity=('boot-1', 'newer')))
    assert libvirt.asked == 2


def test_an_answer_is_not_kept_for_ever(reader, libvirt, clock):
    reader.read(HOST)
    clock[0] = guests.LONGEST
    reader.read(HOST)
    assert libvirt.asked == 2


def test_an_incomplete_answer_is_not_kept(reader, libvirt):
    libvirt.fails = True
    assert reader.read(HOST).cpu.problem
    libvirt.fails = False
    assert not reader.read(HOST).cpu.problem
    assert libvirt.asked == 2


def test_an_emulator_that_libvirt_could_not_ask_makes_nothing_absent(
    reader, libvirt
):
    """libvirt leaves it out of the list, and says nothing of it."""
    libvirt.listed = CAPABILITIES.replace("'x86_64'><em", "'i686'><em")
    found = reader.read(HOST)
    assert found.cpu.problem
    assert not [
        one.trait
        for one in found.traits
        if one.found is finding.Found.ABSENT
        and one.trait.startswith('COMPUTE_ARCH_')
    ]
    libvirt.listed = CAPABILITIES
    assert not reader.read(HOST).cpu.problem


def fail(argv):
    raise errors.DriverError(f'{argv[0]} cannot be run: not found')


def test_an_emulator_that_cannot_be_run_is_asked_again_after_minutes(
    libvirt, clock, caplog
):
    reader = guests.GuestReader(
        libvirt, facts.GuestOptions(), fail, lambda: clock[0]
    )
    first = reader.read(HOST)
    assert reader.read(HOST) is first
    clock[0] = guests.SHORT
    reader.read(HOST)
    assert libvirt.asked == 2
    (record,) = caplog.records
    assert '/usr/bin/qemu cannot be run: not found' in record.getMessage()


def test_a_wrong_model_is_asked_again_after_minutes(libvirt, clock):
    wrong = guest_cpu.CpuOptions(mode='custom', models=('NoSuchModel',))
    libvirt.domain = CUSTOM
    reader = guests.GuestReader(
        libvirt,
        facts.GuestOptions(cpu=wrong),
        lambda argv: 'name "e1000", bus PCI\n',
        lambda: clock[0],
    )
    assert 'NoSuchModel' in reader.read(HOST).cpu.problem
    reader.read(HOST)
    assert libvirt.asked == 1
    clock[0] = guests.SHORT
    reader.read(HOST)
    assert libvirt.asked == 2


def test_a_question_about_the_cpu_that_failed_is_asked_again(reader, libvirt):
    libvirt.refuses = True
    assert reader.read(HOST).cpu.problem
    libvirt.refuses = False
    assert not reader.read(HOST).cpu.problem
