# SPDX-License-Identifier: Apache-2.0
"""The COMPUTE_* traits of a host, from libvirt's answers about its guests.

The host has two architectures of guests, and two machine types of its own.
Each test says in which answer it differs from that of a usual host.
"""

import re

import os_traits
import pytest
import recorded_libvirt

from compute_agent import errors
from compute_agent.virt.values import finding
from drivers.libvirt.capabilities import (
    compute_findings,
    facts,
    nova_traits,
    votes,
)
from drivers.libvirt.cpu import guest_cpu
from drivers.libvirt.reading import guests
from drivers.libvirtd import hypervisor

PRESENT, ABSENT, UNKNOWN = (
    finding.Found.PRESENT,
    finding.Found.ABSENT,
    finding.Found.UNKNOWN,
)
HOST = """
hostname: cn1.example
versions: {libvirt: 9.0.0, hypervisor: 7.2.0, kind: QEMU}
"""
CAPABILITIES = """
<capabilities>
  <host><cpu><arch>x86_64</arch></cpu></host>
  <guest><arch name='aarch64'>
    <emulator>/usr/bin/qemu-system-aarch64</emulator>
  </arch></guest>
  <guest><arch name='x86_64'>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <machine canonical='pc-q35-7.2'>q35</machine>
    <domain type='qemu'/><domain type='kvm'/>
  </arch></guest>
</capabilities>
"""
DEVICES = """
  <disk supported='yes'>
    <enum name='bus'><value>virtio</value><value>scsi</value></enum>
  </disk>
  <video supported='yes'>
    <enum name='modelType'><value>vga</value><value>none</value></enum>
  </video>
  <filesystem supported='yes'>
    <enum name='driverType'><value>path</value><value>virtiofs</value></enum>
  </filesystem>
  <tpm supported='yes'>
    <enum name='model'><value>tpm-tis</value></enum>
    <enum name='backendModel'><value>emulator</value></enum>
    <enum name='backendVersion'><value>2.0</value></enum>
  </tpm>
  <redirdev supported='yes'>
    <enum name='bus'><value>usb</value></enum>
  </redirdev>
"""
USUAL = """
<domainCapabilities>
  <os supported='yes'>
    <enum name='firmware'><value>efi</value></enum>
    <loader supported='yes'>
      <enum name='secure'><value>no</value></enum>
    </loader>
  </os>
  <memoryBacking supported='yes'>
    <enum name='sourceType'><value>memfd</value></enum>
  </memoryBacking>
  <devices>{devices}</devices>
</domainCapabilities>
"""
HELP = """
Network devices:
name "e1000", bus PCI, alias "e1000-82540em", desc "Intel Gigabit Ethernet"
name "virtio-net-pci", bus PCI, alias "virtio-net"

Sound devices:
name "intel-hda", bus PCI, desc "Intel HD Audio Controller (ich6)"

Misc devices:
name "intel-iommu", bus System, desc "Intel IOMMU (VT-d) DMA Remapping device"
name "qemu-xhci", bus PCI
"""


class Case:
    """A recorded host in a temporary folder, and the traits of it."""

    def __init__(self, folder):
        self.folder = folder
        self.help = HELP
        self.runs = 0
        self.now = 0.0
        self.libvirt = recorded_libvirt.Recorded(folder)
        self.write('host.yaml', HOST)
        self.write('capabilities.xml', CAPABILITIES)
        for name in ('x86_64-pc', 'x86_64-q35'):
            self.describe(name, DEVICES)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def describe(self, kind, devices, virt_type='kvm', **changes):
        text = USUAL.format(devices=devices)
        for old, new in changes.items():
            text = text.replace(old, new)
        self.write(f'domain_capabilities/{kind}-{virt_type}.xml', text)

    def run(self, argv):
        self.runs += 1
        assert argv[1:] == ['-device', 'help']
        if self.help is None:
            raise errors.DriverError(f'{argv[0]} cannot be run')
        return self.help

    def reader(self, **options):
        virt_type = options.pop('virt_type', 'kvm')
        return guests.GuestReader(
            self.libvirt,
            facts.GuestOptions(
                cpu=guest_cpu.CpuOptions(virt_type=virt_type), **options
            ),
            self.run,
            lambda: self.now,
        )

    def traits(self, *, userfaultfd=None, **options):
        """Return trait without COMPUTE_ → finding."""
        host = guests.Host(machine='x86_64', userfaultfd=userfaultfd)
        found = self.reader(**options).read(host).traits
        return {f.trait.removeprefix('COMPUTE_'): f for f in found}


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_every_trait_is_a_standard_one_and_decided_once(case):
    reader = case.reader()
    names = [
        f.trait for f in reader.read(guests.Host(machine='x86_64')).traits
    ]
    assert len(names) == len(set(names))
    assert set(names) <= set(os_traits.get_traits('COMPUTE_'))


def test_a_trait_without_a_decision_has_a_reason_to_be_left_out(case):
    """Other modules or writers decide these, or no one can."""
    left = {
        name.removeprefix('COMPUTE_')
        for name in os_traits.get_traits('COMPUTE_')
    } - set(case.traits())
    of_agent = {'NODE', 'STATUS_DISABLED', 'MANAGED_PCI_DEVICE'}
    of_ports = {'REMOTE_MANAGED_PORTS'}
    behaviour = {'CONFIG_DRIVE_REGENERATION', 'VOLUME_ATTACH'}
    of_no_backend = {
        'EPHEMERAL_ENCRYPTION_LUKSV2',
        'EPHEMERAL_ENCRYPTION_PLAIN',
    }
    of_other_drivers = {
        'IMAGE_TYPE_VDI',
        'IMAGE_TYPE_VHD',
        'IMAGE_TYPE_VHDX',
        'IMAGE_TYPE_VMDK',
        'NET_VIF_MODEL_NETFRONT',
        'NET_VIF_MODEL_SRIOV',
        'NET_VIF_MODEL_VMXNET',
    }
    assert left == (
        of_agent | of_ports | behaviour | of_no_backend | of_other_drivers
    )


def test_present_traits_show_their_element(case):
    scsi = case.traits()['STORAGE_BUS_SCSI']
    assert (scsi.found, scsi.fact, scsi.sources) == (
        PRESENT,
        'devices/disk/enum[bus]/scsi',
        ('domainCapabilities of x86_64 pc kvm',),
    )


def test_the_bus_of_redirected_devices_is_no_bus_of_disks(case):
    """nova looks at each enumeration of the name "bus" (fault 2)."""
    assert case.traits()['STORAGE_BUS_USB'].found is ABSENT


def test_one_machine_type_that_has_it_is_enough(case):
    case.describe(
        'x86_64-q35', DEVICES, **{"'secure'><value>no": "'secure'><value>yes"}
    )
    secure = case.traits()['SECURITY_UEFI_SECURE_BOOT']
    assert secure.found is PRESENT
    assert 'q35' in secure.sources[0]


def test_a_machine_type_that_fails_takes_no_other_with_it(case):
    """nova drops the architecture of a kind that fails (fault 6)."""
    (case.folder / 'domain_capabilities/x86_64-pc-kvm.xml').unlink()
    traits = case.traits()
    assert traits['ARCH_X86_64'].found is PRESENT
    assert traits['STORAGE_BUS_SCSI'].found is PRESENT
    assert traits['STORAGE_BUS_FDC'].found is ABSENT


def test_the_tpm_is_that_of_any_machine_type(case):
    """nova asks whichever machine type comes first in a set (fault 7)."""
    without = DEVICES.replace('tpm-tis', 'tpm-crb')
    case.describe('x86_64-q35', without)
    traits = case.traits(swtpm_enabled=True)
    assert traits['SECURITY_TPM_TIS'].found is PRESENT
    assert traits['SECURITY_TPM_CRB'].found is PRESENT
    assert traits['SECURITY_TPM_1_2'].found is ABSENT
    assert traits['SECURITY_TPM_2_0'].found is PRESENT


def test_an_answer_that_fails_is_unknown_and_not_no(case, monkeypatch):
    real = case.libvirt.domain_capabilities

    def fail(request, flags=0):
        if request.machine == 'q35':
            raise hypervisor.Unanswered('libvirtd is restarting')
        return real(request, flags)

    monkeypatch.setattr(case.libvirt, 'domain_capabilities', fail)
    traits = case.traits()
    assert traits['STORAGE_BUS_SCSI'].found is PRESENT
    assert traits['STORAGE_BUS_FDC'].found is UNKNOWN
    assert traits['STORAGE_BUS_FDC'].reason == 'libvirtd is restarting'


@pytest.mark.catches('a host without libvirt can do what nova can')
def test_without_libvirt_nothing_is_claimed(case, monkeypatch):
    """Not even what nova and its options decide on a host with libvirt."""
    options = {
        'swtpm_enabled': True,
        'file_backed_memory': True,
        'permit_auto_converge': True,
        'permit_post_copy': True,
        'userfaultfd': '1',
    }
    claimed = {
        'VOLUME_EXTEND',
        'IMAGE_TYPE_QCOW2',
        'MEM_BACKING_FILE',
        'MIGRATE_AUTO_CONVERGE',
        'MIGRATE_POST_COPY',
        'SECURITY_TPM_SECRET_SECURITY_HOST',
    }
    with_libvirt = case.traits(**options)
    assert {with_libvirt[name].found for name in claimed} == {PRESENT}

    def fail(*_args, **_named):
        raise hypervisor.Unanswered('libvirt-python is not installed')

    for question in ('versions', 'capabilities', 'domain_capabilities'):
        monkeypatch.setattr(case.libvirt, question, fail)
    traits = case.traits(**options)
    assert PRESENT not in {one.found for one in traits.values()}
    for name in claimed:
        assert traits[name].found is UNKNOWN, name
        assert traits[name].reason == votes.NO_ANSWER
    assert traits['STORAGE_BUS_LXC'].found is ABSENT


def test_an_architecture_without_an_answer_may_have_other_devices(case):
    """What the other emulators lack is not absent because of them."""
    for kind in ('x86_64-pc', 'x86_64-q35'):
        case.describe(kind, DEVICES, 'qemu')
    case.write('domain_capabilities/aarch64-virt-qemu.xml', '<domain')
    traits = case.traits(virt_type='qemu')
    assert traits['NET_VIF_MODEL_E1000'].found is PRESENT
    for name in ('NET_VIF_MODEL_LAN9118', 'SOUND_MODEL_SB16'):
        assert traits[name].found is UNKNOWN, name
        assert 'aarch64' in traits[name].reason


def test_an_element_that_is_not_there_is_unknown(case):
    for kind in ('x86_64-pc', 'x86_64-q35'):
        case.describe(kind, "<video supported='no'/>")
    traits = case.traits(swtpm_enabled=True)
    assert traits['STORAGE_BUS_SCSI'].found is UNKNOWN
    assert 'do not mention it' in traits['STORAGE_BUS_SCSI'].reason
    assert traits['GRAPHICS_MODEL_VGA'].found is ABSENT
    assert traits['STORAGE_VIRTIO_FS'].found is UNKNOWN
    assert traits['SHARE_LOCAL_FS'].found is UNKNOWN
    assert traits['SECURITY_TPM_2_0'].found is UNKNOWN


def test_without_any_answer_only_nova_s_own_traits_are_known(case):
    (case.folder / 'capabilities.xml').unlink()
    traits = case.traits()
    assert traits['VOLUME_EXTEND'].found is PRESENT
    assert traits['SECURITY_TPM_2_0'].found is ABSENT
    for name in (
        'ARCH_X86_64',
        'STORAGE_BUS_VIRTIO',
        'NET_VIF_MODEL_E1000',
        'NET_VIRTIO_PACKED',
        'SECURITY_UEFI_SECURE_BOOT',
        'SOUND_MODEL_PCSPK',
        'VIOMMU_MODEL_AUTO',
    ):
        assert traits[name].found is UNKNOWN, name


def test_a_user_who_may_not_ask_makes_nothing_absent(case, monkeypatch):
    """libvirt refuses these questions on a read-only connection."""

    def refuse(request, flags=0):
        raise hypervisor.Unsupported('read only access')

    monkeypatch.setattr(case.libvirt, 'domain_capabilities', refuse)
    traits = case.traits()
    for name in ('ARCH_X86_64', 'ARCH_AARCH64', 'STORAGE_BUS_VIRTIO'):
        assert traits[name].found is UNKNOWN, name


def test_an_architecture_is_present_if_its_guests_can_start(case):
    """KVM runs no guests of another architecture; QEMU alone does."""
    traits = case.traits()
    assert traits['ARCH_AARCH64'].found is ABSENT
    assert traits['ARCH_S390X'].found is ABSENT
    for kind in ('x86_64-pc', 'x86_64-q35', 'aarch64-virt'):
        case.describe(kind, DEVICES, 'qemu')
    traits = case.traits(virt_type='qemu')
    assert traits['ARCH_AARCH64'].found is PRESENT
    assert traits['VIOMMU_MODEL_SMMUV3'].found is PRESENT


def test_an_architecture_that_went_is_absent(case):
    """nova never removes COMPUTE_ARCH_* (fault 14)."""
    host = guests.Host(machine='x86_64')
    for kind in ('x86_64-pc', 'x86_64-q35', 'aarch64-virt'):
        case.describe(kind, DEVICES, 'qemu')
    reader = case.reader(virt_type='qemu')
    reader.read(host)
    start = CAPABILITIES.index("  <guest><arch name='aarch64'>")
    end = CAPABILITIES.index("  <guest><arch name='x86_64'>")
    case.write('capabilities.xml', CAPABILITIES[:start] + CAPABILITIES[end:])
    case.write('host.yaml', HOST.replace('7.2.0', '8.0.0'))
    found = {f.trait: f.found for f in reader.read(host).traits}
    assert found['COMPUTE_ARCH_AARCH64'] is ABSENT
    assert found['COMPUTE_ARCH_X86_64'] is PRESENT


@pytest.mark.parametrize(
    ('options', 'expected'),
    [
        ({}, ABSENT),
        ({'swtpm_enabled': True}, PRESENT),
        ({'swtpm_enabled': True, 'tpm_secrets': ('host',)}, ABSENT),
    ],
)
def test_the_secret_of_a_tpm_is_nova_s_option(case, options, expected):
    """nova never removes these traits (fault 14)."""
    found = case.traits(**options)['SECURITY_TPM_SECRET_SECURITY_USER']
    assert found.found is expected


def test_without_swtpm_on_the_host_there_is_no_tpm(case):
    for kind in ('x86_64-pc', 'x86_64-q35'):
        case.describe(kind, DEVICES.replace('emulator', 'passthrough'))
    tpm = case.traits(swtpm_enabled=True)['SECURITY_TPM_2_0']
    assert tpm.found is ABSENT
    assert 'is swtpm installed?' in tpm.reason


def test_devices_that_this_build_of_the_emulator_lacks_are_absent(case):
    """For nova the models of interfaces and sound are constants (fault 17)."""
    traits = case.traits()
    assert traits['NET_VIF_MODEL_E1000'].found is PRESENT
    assert traits['NET_VIF_MODEL_E1000'].fact == '-device e1000'
    assert traits['NET_VIF_MODEL_VMXNET3'].found is ABSENT
    assert traits['NET_VIF_MODEL_VMXNET3'].reason == (
        '-device help of the emulator for x86_64 does not have it'
    )
    assert traits['SOUND_MODEL_ICH6'].found is PRESENT
    assert traits['SOUND_MODEL_ICH9'].found is ABSENT
    assert traits['USB_MODEL_QEMU_XHCI'].found is PRESENT
    assert traits['VIOMMU_MODEL_AUTO'].found is PRESENT


@pytest.mark.parametrize('printed', [None, '', 'Segmentation fault\n'])
def test_an_emulator_that_cannot_be_asked_leaves_its_devices_unknown(
    case, printed
):
    case.help = printed
    traits = case.traits()
    assert traits['NET_VIF_MODEL_E1000'].found is UNKNOWN
    assert traits['STORAGE_BUS_SCSI'].found is PRESENT


def test_a_release_that_is_too_old_is_named(case):
    case.help += 'name "igb", bus PCI\n'
    igb = case.traits()['NET_VIF_MODEL_IGB']
    assert igb.found is ABSENT
    assert igb.reason == 'libvirt 9.0.0 is older than 9.3.0'
    case.write('host.yaml', HOST.replace('9.0.0', '9.3.0'))
    assert case.traits()['NET_VIF_MODEL_IGB'].reason == (
        'QEMU 7.2.0 is older than 8.0.0'
    )


def test_what_libvirt_tells_is_not_guessed_from_its_release(case):
    """nova infers virtio-fs from the releases (fault 16)."""
    for kind in ('x86_64-pc', 'x86_64-q35'):
        case.describe(kind, DEVICES.replace('<value>virtiofs</value>', ''))
    assert case.traits()['STORAGE_VIRTIO_FS'].found is ABSENT


def test_secure_boot_of_a_newer_libvirt(case):
    """libvirt 12.1 tells it by another element (fault 16)."""
    feature = (
        "<firmwareFeatures supported='yes'><enum name='secureBoot'>"
        '<value>yes</value></enum></firmwareFeatures></os>'
    )
    case.describe('x86_64-q35', DEVICES, **{'</os>': feature})
    assert case.traits()['SECURITY_UEFI_SECURE_BOOT'].found is PRESENT


def test_firmware(case):
    traits = case.traits()
    assert traits['FIRMWARE_UEFI'].found is PRESENT
    assert traits['FIRMWARE_BIOS'].found is PRESENT
    assert traits['SHARE_LOCAL_FS'].found is PRESENT


@pytest.mark.parametrize(
    ('options', 'absent'),
    [
        ({}, {'IMAGE_TYPE_PLOOP'}),
        (
            {'excluded_image_types': ('aki', 'iso')},
            {'IMAGE_TYPE_PLOOP', 'IMAGE_TYPE_AKI', 'IMAGE_TYPE_ISO'},
        ),
        (
            {'images_type': 'rbd', 'force_raw_images': False},
            {'IMAGE_TYPE_PLOOP', 'IMAGE_TYPE_QCOW2'},
        ),
        ({'images_type': 'rbd'}, {'IMAGE_TYPE_PLOOP'}),
        ({'force_raw_images': False}, {'IMAGE_TYPE_PLOOP'}),
        ({'virt_type': 'parallels'}, set()),
    ],
)
def test_image_types(case, options, absent):
    found = {
        name
        for name, one in case.traits(**options).items()
        if name.startswith('IMAGE_TYPE_') and one.found is ABSENT
    }
    assert found == absent


@pytest.mark.parametrize(
    ('content', 'expected'), [('1', PRESENT), ('0', ABSENT), (None, UNKNOWN)]
)
def test_post_copy_needs_the_kernel_s_switch(case, content, expected):
    found = case.traits(permit_post_copy=True, userfaultfd=content)
    assert found['MIGRATE_POST_COPY'].found is expected
    off = case.traits(userfaultfd='1')['MIGRATE_POST_COPY']
    assert off.found is ABSENT
    assert compute_findings.USERFAULTFD not in off.reason


def test_other_options(case):
    traits = case.traits(file_backed_memory=True, permit_auto_converge=True)
    assert traits['MEM_BACKING_FILE'].found is PRESENT
    assert traits['MIGRATE_AUTO_CONVERGE'].found is PRESENT
    assert case.traits()['MEM_BACKING_FILE'].found is ABSENT


def test_the_tables_are_sorted():
    for table in (
        nova_traits.ALWAYS,
        nova_traits.NEVER,
        nova_traits.PLACES,
        nova_traits.TPM,
        nova_traits.DEVICES,
        nova_traits.RELEASES,
        nova_traits.ARCHITECTURES,
    ):
        assert list(table) == sorted(table)


def test_a_tpm_without_a_release_is_unknown(case):
    """libvirt before 8.6 does not tell which releases it emulates."""
    old = re.sub(r"\s*<enum name='backendVersion'>.*?</enum>", '', DEVICES)
    for kind in ('x86_64-pc', 'x86_64-q35'):
        case.describe(kind, old)
    traits = case.traits(swtpm_enabled=True)
    assert traits['SECURITY_TPM_TIS'].found is PRESENT
    assert traits['SECURITY_TPM_1_2'].found is UNKNOWN
    assert traits['SECURITY_TPM_2_0'].found is UNKNOWN
