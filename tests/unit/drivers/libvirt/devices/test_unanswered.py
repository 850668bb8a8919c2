# SPDX-License-Identifier: Apache-2.0
"""A question that libvirt does not answer, or a file, changes no child."""

import pytest
import recorded_hosts

from drivers.libvirt import host
from drivers.libvirt.devices import children, options
from drivers.libvirt.libvirtd import hypervisor, recorded

ROOT = 'compute1'


class Answers:
    """The answers of a recorded host, some of which a test replaces."""

    def __init__(self, folder):
        self._answers = recorded.Recorded(folder / 'libvirt')
        self.machines = {}

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
