# SPDX-License-Identifier: Apache-2.0
"""A question that libvirt does not answer, or a file, changes no child."""

import pytest
import recorded_hosts

from drivers.libvirt import host
from drivers.libvirt.devices import (
    child,
    children,
    mdev_types,
    options,
    pci_specs,
)
from drivers.libvirt.libvirtd import hypervisor, recorded

ROOT = 'compute1'


class Answers:
    """The answers of a recorded host, some of which a test replaces."""

    def __init__(self, folder):
        self._answers = recorded.Recorded(folder / 'libvirt')
        self.machines = {}
        self.devices = {}

    def node_devices(self):
        return {**self._answers.node_devices(), **self.devices}

    def domain_capabilities(self, request, flags=0):
        answer = self.machines.get(request.machine)
        if isinstance(answer, Exception):
            raise answer
        return answer or self._answers.domain_capabilities(request, flags)

    def __getattr__(self, name):
        return getattr(self._answers, name)


def host_of(case, **settings):
    folder = recorded_hosts.HOSTS / case
    answers = Answers(folder)
    return answers, children.ChildProviders(
        answers, host.HostFiles(folder), options.Settings(**settings)
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
    one = mdev_types.EnabledType(id=enabled, **limits)
    return host_of(
        'gpu-three-cards',
        types=mdev_types.EnabledTypes.of([one] if enabled else []),
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
