# SPDX-License-Identifier: Apache-2.0
"""A question that libvirt does not answer, or a file, changes no child."""

import shutil

import pytest
import recorded_hosts
import recorded_libvirt

from compute_agent import errors
from drivers import host_files
from drivers.libvirt.capabilities import facts
from drivers.libvirt.devices import (
    child,
    mdev,
    memory_encryption,
    node_devices,
    pci_specs,
    placing,
    traits,
)
from drivers.libvirt.options import devices
from drivers.libvirt.reading import children, guests, health
from drivers.libvirtd import hypervisor

ROOT = 'compute1'


class Answers:
    """The answers of a recorded host, some of which a test replaces."""

    def __init__(self, folder):
        self._answers = recorded_libvirt.Recorded(folder / 'libvirt')
        self.machines = {}
        self.devices = {}
        self.problem = None

    def node_devices(self):
        if self.problem:
            raise self.problem
        found = {**self._answers.node_devices(), **self.devices}
        return {name: text for name, text in found.items() if text}

    def domain_capabilities(self, request, flags=0):
        answer = self.machines.get(request.machine)
        if isinstance(answer, Exception):
            raise answer
        return answer or self._answers.domain_capabilities(request, flags)

    def __getattr__(self, name):
        return getattr(self._answers, name)


def no_programs(argv):
    raise errors.DriverError(f'{argv[0]} cannot be run')


class Providers(children.ChildProviders):
    """The children of a host, by its answers about guests at the time."""

    def __init__(self, answers, files, settings):
        super().__init__(answers, files, settings)
        self._asked = answers

    def guests(self):
        reader = guests.GuestReader(
            self._asked, facts.GuestOptions(), no_programs
        )
        return reader.read(guests.Host(machine='x86_64'))

    def describe(self, root, of=None, reported=()):
        return super().describe(root, of or self.guests(), reported)

    def below(self, tree, root):
        return super().below(tree, root, self.guests())

    def findings(self, root):
        return super().findings(root, self.guests())


def host_of(case, **settings):
    folder = recorded_hosts.HOSTS / case
    answers = Answers(folder)
    return answers, Providers(
        answers, host_files.HostFiles(folder), devices.Settings(**settings)
    )


def contexts(found):
    return {child.name for child in found.known}


Q35 = hypervisor.DomainCapabilitiesRequest(
    emulator='', arch='x86_64', machine='q35', virt_type='kvm'
)
NONE = (
    '<domainCapabilities><features><sev supported="no"/>'
    '<launchSecurity supported="no"/><tdx supported="no"/></features>'
    '</domainCapabilities>'
)
ENCRYPTED = {
    'encryption-sev': 'amd_sev',
    'encryption-sev-es': 'amd_sev_es',
    'encryption-sev-snp': 'amd_sev_snp',
    'encryption-tdx': 'intel_tdx',
}


@pytest.mark.parametrize(('failing', 'other'), [('pc', 'q35'), ('q35', 'pc')])
@pytest.mark.parametrize('case', ENCRYPTED)
class TestContextsOfEncryptedGuests:
    def test_a_machine_type_that_fails_leaves_them(self, case, failing, other):
        answers, providers = host_of(case, cpu_mode='host-passthrough')
        answers.machines = {
            failing: hypervisor.Unanswered('timed out'),
            other: NONE,
        }
        found = providers.describe(ROOT)
        name = f'{ROOT}_{ENCRYPTED[case]}'
        assert not found.known
        assert name in found.unknown

    def test_a_machine_type_that_has_them_is_enough(
        self, case, failing, other
    ):
        answers, providers = host_of(case, cpu_mode='host-passthrough')
        complete = contexts(providers.describe(ROOT))
        text = answers.domain_capabilities(Q35)
        answers.machines = {
            failing: hypervisor.Unanswered('timed out'),
            other: text,
        }
        assert contexts(providers.describe(ROOT)) == complete

    def test_a_machine_type_that_the_host_lacks_is_not_waited_for(
        self, case, failing, other
    ):
        answers, providers = host_of(case, cpu_mode='host-passthrough')
        answers.machines = {
            failing: hypervisor.Unsupported('no such machine type'),
            other: NONE,
        }
        found = providers.describe(ROOT)
        assert not found.known
        assert not found.unknown


CARD = '0000:3b:00.0'
MDEV = 'mdev_3a2f4d4e_51f4_4a7a_9a3e_51f0c2b7d001_pci_0000_3b_00_0'


def pci_names(found):
    return {c.name for c in found.known if c.kind is child.Kind.PCI}


def cards(enabled, **limits):
    """Return three cards, selected whole and as parents of one type."""
    one = mdev.EnabledType(id=enabled, **limits)
    return host_of(
        'gpu-three-cards',
        types=mdev.EnabledTypes.by_parents([one] if enabled else []),
        specs=pci_specs.parse(['{"vendor_id": "10de"}'], reported=True),
    )


class TestADeviceWithMediatedDevicesIsNotGivenAwayWhole:
    @pytest.mark.parametrize('enabled', ['nvidia-230', ''])
    def test_one_that_cannot_be_read_may_be_of_any_card(self, enabled):
        answers, providers = cards(enabled)
        answers.devices = {MDEV: '<device'}
        found = providers.describe(ROOT)
        assert not pci_names(found)
        assert len([n for n in found.notes if 'may be a mediated' in n]) >= 2

    @pytest.mark.parametrize('enabled', ['nvidia-999', ''])
    def test_one_of_another_type(self, enabled):
        _, providers = cards(enabled)
        found = providers.describe(ROOT)
        assert pci_names(found) == {
            f'{ROOT}_0000:5E:00.0',
            f'{ROOT}_0000:86:00.0',
        }
        (note,) = found.notes
        assert f'{CARD} has mediated devices' in note

    def test_a_parent_that_placement_still_has(self):
        _, providers = cards('')
        name = f'{ROOT}_pci_0000_5e_00_0'
        tree = recorded_hosts.placed(
            {
                ROOT: {'inventory': {}, 'traits': []},
                name: {'inventory': {}, 'traits': ['OWNER_NOVA']},
            }
        )
        found = providers.below(tree, ROOT)
        assert pci_names(found) == {f'{ROOT}_0000:86:00.0'}
        assert any(
            f'placement has the provider {name}' in n for n in found.notes
        )

    def test_a_parent_whose_share_is_unknown(self):
        answers, providers = cards('nvidia-230', max_instances=20)
        answers.devices = {'pci_0000_86_00_0': '<device'}
        assert not pci_names(providers.describe(ROOT))


class TestADeviceInErrorWhoseFileCannotBeRead:
    PF, VF = '0000:41:00.0', '0000:41:00.4'
    NAME = f'{ROOT}_pci_0000_41_00_4'

    @pytest.fixture
    def files(self, tmp_path):
        """Return a folder with well files of a card and of its VF."""
        folder = tmp_path / 'sys/bus/pci/devices'
        for address in (self.PF, self.VF):
            (folder / address / 'power').mkdir(parents=True)
            (folder / address / 'power/runtime_status').write_text('active')
            (folder / address / 'power_state').write_text('D0')
        (folder / self.PF / 'aer_dev_fatal').write_text('TOTAL_ERR_FATAL 0')
        (folder / self.PF / 'config').write_bytes(b'\x86\x80\x01\x00')
        return folder

    def placed(self, tmp_path, mark):
        """Return the provider of the VF after a cycle; it had this mark."""
        answers = Answers(recorded_hosts.HOSTS / 'gpu-sriov-mdev')
        one = mdev.EnabledType(id='nvidia-591')
        providers = Providers(
            answers,
            host_files.HostFiles(tmp_path),
            devices.Settings(types=mdev.EnabledTypes.by_parents([one])),
        )
        record = {'total': 1, 'reserved': 1}
        tree = recorded_hosts.placed(
            {
                ROOT: {'inventory': {}, 'traits': []},
                self.NAME: {
                    'inventory': {'VGPU': record},
                    'traits': ['OWNER_NOVA', mark],
                },
            }
        )
        placing.place(tree, ROOT, providers.below(tree, ROOT))
        return tree.data(self.NAME)

    @pytest.mark.parametrize(
        ('mark', 'address', 'name'),
        [
            (traits.AER_FATAL, PF, 'aer_dev_fatal'),
            (traits.D3COLD, PF, 'power_state'),
            (traits.POWER_ERROR, PF, 'power_state'),
            (traits.NO_ANSWER, PF, 'config'),
            (traits.D3COLD, VF, 'power_state'),
        ],
    )
    def test_a_parent_of_mediated_devices_stays_reserved(
        self, files, tmp_path, mark, address, name
    ):
        (files / address / name).write_text('')
        assert self.placed(tmp_path, mark).inventory['VGPU']['reserved'] == 1

    @pytest.mark.parametrize(
        'mark',
        [
            traits.AER_FATAL,
            traits.D3COLD,
            traits.POWER_ERROR,
            traits.NO_ANSWER,
        ],
    )
    def test_one_that_is_well_is_offered(self, files, tmp_path, mark):
        assert self.placed(tmp_path, mark).inventory['VGPU']['reserved'] == 0

    def test_a_whole_device_without_an_answer_stays_reserved(self, tmp_path):
        device = node_devices.PciDevice(
            name='pci_0000_c1_00_0',
            address='0000:c1:00.0',
            vendor='144d',
            product='a80a',
        )
        found = health.unread(device, host_files.HostFiles(tmp_path))
        assert traits.NO_ANSWER in found


def notes(providers, *reported):
    """Return the lines of a cycle, with these children in placement."""
    tree = recorded_hosts.placed(
        {ROOT: {'inventory': {}, 'traits': []}}
        | {
            f'{ROOT}_{name}': {
                'inventory': {},
                'traits': ['OWNER_NOVA', traits.MANAGED],
            }
            for name in reported
        }
    )
    placing.place(tree, ROOT, providers.below(tree, ROOT))
    return tree.notes


class TestAnUnknownChildThatPlacementDoesNotHaveIsTold:
    def test_the_capacity_of_tdx(self, tmp_path):
        folder = shutil.copytree(
            recorded_hosts.HOSTS / 'encryption-tdx', tmp_path / 'host'
        )
        (folder / memory_encryption.CAPACITY[1:]).unlink()
        providers = Providers(
            Answers(folder),
            host_files.HostFiles(folder),
            devices.Settings(cpu_mode='host-passthrough'),
        )
        reason = (
            'because /sys/fs/cgroup/misc.capacity cannot be read; '
            'set [libvirt] num_intel_tdx_guests'
        )
        assert f'{ROOT}_intel_tdx: not reported, {reason}' in notes(providers)
        assert notes(providers, 'intel_tdx') == [
            f'{ROOT}_intel_tdx: left as it is, {reason}'
        ]

    def test_a_kind_of_encryption_that_the_host_hardly_has(self):
        answers, providers = host_of('encryption-tdx')
        unknown = hypervisor.Unanswered('timed out')
        answers.machines = {'pc': unknown, 'q35': unknown}
        assert providers.describe(ROOT).unknown
        assert not notes(providers)

    def test_a_device_that_cannot_be_read(self):
        answers, providers = cards('nvidia-230')
        answers.devices = {'pci_0000_5e_00_0': '<device'}
        (note,) = [n for n in notes(providers) if 'not reported' in n]
        assert note.startswith(f'{ROOT}_pci_0000_5e_00_0: not reported')

    def test_a_kind_of_devices(self):
        answers, providers = host_of(
            'nvme-eight',
            specs=pci_specs.parse(['{"vendor_id": "144d"}'], reported=True),
        )
        answers.problem = hypervisor.Unanswered('libvirt does not answer')
        why = 'because libvirt does not answer'
        assert notes(providers) == [f'no PCI devices are reported, {why}']
        assert notes(providers, '0000:C1:00.0') == [
            f'{ROOT}_0000:C1:00.0: left as it is, {why}'
        ]


class TestACardThatMayBeNeutrons:
    AGENT = ':NIC Switch agent:ens5f0'
    NET = 'net_ens5f0_3c_fd_fe_00_00_10'

    def described(self, devices, spec='{"product_id": "154c"}'):
        answers, providers = host_of(
            'nic-virtual-functions',
            specs=pci_specs.parse([spec], reported=True),
        )
        answers.devices = devices
        tree = recorded_hosts.placed(
            {
                ROOT: {'inventory': {}, 'traits': []},
                f'{ROOT}{self.AGENT}': {'inventory': {}, 'traits': []},
            }
        )
        return providers.below(tree, ROOT)

    @pytest.mark.parametrize('text', ['<device', None])
    def test_its_interface_is_not_listed(self, text):
        found = self.described({self.NET: text})
        assert not pci_names(found)
        (note,) = found.notes
        assert 'left as it is' in note
        assert (
            f'provider {ROOT}{self.AGENT} may stand for 0000:81:00.0' in note
        )

    def test_a_card_with_an_interface_is_reported(self):
        found = self.described({self.NET: None}, '{"product_id": "1583"}')
        assert pci_names(found) == {f'{ROOT}_0000:81:00.1'}


class TestTheEvidenceIsOfTheChildrenThatWereDescribed:
    def test_a_parent_that_only_placement_knows(self):
        answers, providers = cards('nvidia-230')
        text = answers.node_devices()['pci_0000_86_00_0']
        before, _, rest = text.partition("    <capability type='mdev_types'>")
        answers.devices = {
            'pci_0000_86_00_0': before + rest.partition('</capability>\n')[2]
        }
        assert notes(providers, 'pci_0000_86_00_0')
        found = {f.trait: f for f in providers.findings(ROOT)}
        one = found[traits.NO_MDEV_TYPES]
        assert one.provider == f'{ROOT}_pci_0000_86_00_0'
        assert 'offers no type' in one.fact

    def test_a_child_that_is_unknown(self):
        answers, providers = cards('nvidia-230')
        answers.devices = {'pci_0000_86_00_0': '<device'}
        (one,) = [
            f
            for f in providers.findings(ROOT)
            if f.provider == f'{ROOT}_pci_0000_86_00_0'
        ]
        assert one.trait is None
        assert one.found.value == 'unknown'
        assert 'pci_0000_86_00_0' in one.reason


def test_what_is_not_reported_hides_no_device():
    answers, providers = cards('')
    text = answers.node_devices()['pci_0000_86_00_0']
    answers.devices = {
        'pci_0000_86_00_0': text.replace(
            "<capability type='pci'>",
            "<capability type='pci'><iommuGroup number='x'/>",
        )
    }
    assert answers.devices['pci_0000_86_00_0'] != text
    assert f'{ROOT}_0000:86:00.0' in pci_names(providers.describe(ROOT))
