# SPDX-License-Identifier: Apache-2.0
"""The features of guests, from the best of libvirt's answers.

The host is an AMD one whose hypervisor gives guests less, and other features,
than the host has: nova reports the host's.
"""

import pathlib

import pytest
import recorded_libvirt

from compute_agent import errors
from compute_agent.virt.values import finding
from drivers.libvirt.capabilities import facts
from drivers.libvirt.cpu import findings, guest_cpu, processors
from drivers.libvirt.cpu.findings import Facts
from drivers.libvirt.reading import guests
from drivers.libvirt.recording import libvirt_answers
from drivers.libvirtd import hypervisor

PRESENT, ABSENT, UNKNOWN = (
    finding.Found.PRESENT,
    finding.Found.ABSENT,
    finding.Found.UNKNOWN,
)
CAPABILITIES = """
<capabilities>
  <host><cpu>
    <arch>x86_64</arch><model>EPYC</model><vendor>AMD</vendor>
    <feature name='avx512f'/><feature name='pcid'/>
  </cpu></host>
  <guest><os_type>hvm</os_type><arch name='x86_64'>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <machine canonical='pc-q35-10.0'>q35</machine>
    <domain type='kvm'/>
  </arch></guest>
</capabilities>
"""
DOMAIN = """
<domainCapabilities>
  <cpu>
    <mode name='host-passthrough' supported='yes'/>
    <mode name='host-model' supported='yes'>
      <model fallback='forbid'>EPYC</model>
      <vendor>AMD</vendor>
      {features}
    </mode>
    <mode name='custom' supported='yes'>
      <model usable='yes' vendor='Intel'>Nehalem</model>
      <model usable='no' vendor='Intel'>Icelake-Server</model>
      <blockers model='Icelake-Server'>
        <feature name='hle'/><feature name='rtm'/>
      </blockers>
      <model usable='unknown' vendor='AMD'>EPYC-Milan</model>
    </mode>
  </cpu>
</domainCapabilities>
"""
EXPANDED = {
    'require': ['pni', 'avx2', 'aes', 'pclmuldq', 'svm'],
    'disable': ['sha-ni'],
}


def features(names):
    return ''.join(
        f"<feature policy='{policy}' name='{name}'/>"
        for policy, found in names.items()
        for name in found
    )


def cpu(model, **names):
    return f'<cpu><model>{model}</model>{features(names)}</cpu>'


def no_programs(argv):
    raise errors.DriverError(f'{argv[0]} cannot be run')


class Case:
    """A recorded host in a temporary folder, and what guests on it get."""

    def __init__(self, folder):
        self._folder = folder
        self.write('capabilities.xml', CAPABILITIES)

    def write(self, name, text):
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def remove(self, name):
        (self._folder / name).unlink()

    def domain(self, names, suffix='', virt_type='kvm'):
        name = f'domain_capabilities/x86_64-pc-{virt_type}{suffix}.xml'
        self.write(name, DOMAIN.format(features=features(names)))

    def baseline(self, model, **names):
        self.write(
            f'baseline_hypervisor_cpu/{model}-expanded.xml',
            cpu(model, **names),
        )

    def traits(self, libvirt=None, **options):
        """Return trait → finding, beside a kernel that lists AVX-512."""
        reader = guests.GuestReader(
            libvirt or recorded_libvirt.Recorded(self._folder),
            facts.GuestOptions(cpu=guest_cpu.CpuOptions(**options)),
            no_programs,
        )
        known = Facts(
            machine='x86_64',
            kernel=processors.Processors(
                words=frozenset({'avx512f', 'avx2', 'pni'}),
                vendor='AuthenticAMD',
            ),
            guest=reader.read(guests.Host(machine='x86_64')).cpu,
        )
        return {f.trait: f for f in findings.findings(known) if f.trait}


@pytest.fixture
def case(tmp_path: pathlib.Path):
    case = Case(tmp_path)
    case.domain(EXPANDED, libvirt_answers.EXPANDED)
    return case


def test_the_expanded_host_model_decides(case):
    traits = case.traits()
    avx2 = traits['HW_CPU_X86_AVX2']
    assert (avx2.found, avx2.fact, avx2.sources) == (
        PRESENT,
        'avx2',
        ('domainCapabilities/cpu/mode[host-model]',),
    )
    assert traits['HW_CPU_X86_CLMUL'].fact == 'pclmuldq'
    assert traits['HW_CPU_X86_AMD_SVM'].found is PRESENT


def test_sse3_is_what_libvirt_calls_pni(case):
    """nova looks for the name sse3, which libvirt never says (fault 1)."""
    assert case.traits()['HW_CPU_X86_SSE3'].found is PRESENT


def test_what_only_the_host_has_is_absent(case):
    """nova reports the host's own features (fault 4)."""
    assert case.traits()['HW_CPU_X86_AVX512F'].found is ABSENT


def test_a_disabled_feature_is_absent_with_its_policy(case):
    """nova reads the names and drops the policies (fault 4)."""
    sha = case.traits()['HW_CPU_X86_SHA']
    assert (sha.found, sha.fact) == (ABSENT, 'sha-ni')
    assert sha.reason.endswith('has it with policy disable')


def test_an_older_libvirt_expands_the_host_model_by_a_baseline(case):
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    case.domain({'require': ['clwb'], 'disable': ['avx512f']})
    case.baseline('EPYC', require=['avx2', 'clwb'], disable=['avx512f'])
    traits = case.traits()
    assert traits['HW_CPU_X86_AVX2'].sources == (
        'baselineHypervisorCPU of mode[host-model]',
    )
    assert traits['HW_CPU_X86_SSE3'].found is ABSENT
    assert 'disable' in traits['HW_CPU_X86_AVX512F'].reason


def test_without_domain_capabilities_the_host_cpu_decides(case):
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    case.write('baseline_cpu/EPYC-expanded.xml', cpu('EPYC', require=['fma']))
    traits = case.traits()
    assert traits['HW_CPU_X86_FMA3'].sources == (
        'baselineCPU of capabilities/host/cpu',
    )
    assert traits['HW_CPU_X86_AVX2'].found is ABSENT


@pytest.mark.parametrize('removed', ['domain', 'all'])
def test_without_any_answer_the_kernel_decides(case, removed):
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    if removed == 'all':
        case.remove('capabilities.xml')
    avx512 = case.traits()['HW_CPU_X86_AVX512F']
    assert (avx512.found, avx512.sources) == (PRESENT, ('kernel',))


@pytest.mark.parametrize(
    'options',
    [
        {'virt_type': 'qemu'},
        {'mode': 'none'},
        {'mode': 'custom', 'models': ('Nehalem',)},
    ],
)
def test_the_kernel_says_nothing_about_other_guests(case, options):
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    avx2 = case.traits(**options)['HW_CPU_X86_AVX2']
    assert avx2.found is UNKNOWN
    assert 'only libvirt knows' in avx2.reason


@pytest.mark.parametrize(
    'question',
    [
        'capabilities',
        'domain_capabilities',
        'baseline_hypervisor_cpu',
    ],
)
def test_an_answer_that_fails_leaves_all_unknown(case, tmp_path, question):
    """No other source may step in, or traits would flap with libvirtd."""
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    case.domain(EXPANDED)
    libvirt = recorded_libvirt.Recorded(tmp_path)

    def fail(*words, **options):
        raise hypervisor.Unanswered('libvirtd is restarting')

    setattr(libvirt, question, fail)
    traits = case.traits(libvirt)
    for name in ('HW_CPU_X86_AVX512F', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_SHA'):
        assert traits[name].found is UNKNOWN
        assert 'libvirtd is restarting' in traits[name].reason


@pytest.mark.parametrize(
    'name', ['capabilities', 'domain_capabilities/x86_64-pc-kvm-expanded']
)
@pytest.mark.parametrize('text', ['', '<capabilities>', '<cpu/>'])
def test_a_damaged_document_leaves_all_unknown(case, name, text):
    case.write(f'{name}.xml', text)
    traits = case.traits()
    assert traits['HW_CPU_X86_AVX2'].found is UNKNOWN
    assert traits['HW_CPU_X86_AVX512F'].found is UNKNOWN


@pytest.mark.parametrize('text', ['<capabilities/>', '<cpu/>', '<cpu'])
def test_a_baseline_that_is_none_leaves_all_unknown(case, text):
    """An empty list of features would remove every trait."""
    case.remove('domain_capabilities/x86_64-pc-kvm-expanded.xml')
    case.domain(EXPANDED)
    case.write('baseline_hypervisor_cpu/EPYC-expanded.xml', text)
    assert case.traits()['HW_CPU_X86_AVX2'].found is UNKNOWN


def test_a_host_model_without_a_model_leaves_all_unknown(case):
    text = DOMAIN.format(features='').replace(
        "<model fallback='forbid'>EPYC</model>", ''
    )
    case.write('domain_capabilities/x86_64-pc-kvm-expanded.xml', text)
    assert case.traits()['HW_CPU_X86_AVX2'].found is UNKNOWN


def test_the_answer_of_another_host_leaves_all_unknown(case):
    case.write('capabilities.xml', CAPABILITIES.replace('>x86_64<', '>s390x<'))
    avx2 = case.traits()['HW_CPU_X86_AVX2']
    assert avx2.found is UNKNOWN
    assert 'this host is s390x, the kernel that it is x86_64' in avx2.reason


def test_a_mode_that_is_not_supported_gives_nothing(case):
    text = DOMAIN.format(features=features(EXPANDED)).replace(
        "'host-passthrough' supported='yes'",
        "'host-passthrough' supported='no'",
    )
    case.write('domain_capabilities/x86_64-pc-qemu-expanded.xml', text)
    options = {'virt_type': 'qemu', 'mode': 'host-passthrough'}
    avx2 = case.traits(**options)['HW_CPU_X86_AVX2']
    assert avx2.found is ABSENT
    assert 'mode[host-passthrough] is supported=' in avx2.reason
    assert case.traits(virt_type='qemu')['HW_CPU_X86_AVX2'].found is PRESENT


def test_a_mode_that_is_not_mentioned_is_unknown(case):
    case.write(
        'domain_capabilities/x86_64-pc-kvm-expanded.xml',
        '<domainCapabilities/>',
    )
    assert case.traits()['HW_CPU_X86_AVX2'].found is UNKNOWN


def test_a_removed_flag_is_absent(case):
    """nova keeps the flags that cpu_model_extra_flags removes (fault 3)."""
    avx2 = case.traits(flags=('-AVX2',))['HW_CPU_X86_AVX2']
    assert avx2.found is ABSENT
    assert avx2.reason == '-avx2 in [libvirt] cpu_model_extra_flags'


def test_a_removed_flag_is_absent_by_the_kernel_too(case):
    case.remove('capabilities.xml')
    avx2 = case.traits(flags=('-avx2',))['HW_CPU_X86_AVX2']
    assert avx2.found is ABSENT


def test_models_that_are_not_usable_count_for_nothing(case):
    """nova unites all models of the list (fault 5)."""
    case.baseline('Nehalem', require=['pni', 'sse4.2'])
    case.baseline('Icelake-Server', require=['pni', 'avx512f'])
    traits = case.traits(mode='custom', models=('nehalem', 'Icelake-Server'))
    assert traits['HW_CPU_X86_SSE42'].sources == (
        'baselineHypervisorCPU of Nehalem',
    )
    assert traits['HW_CPU_X86_SSE3'].found is PRESENT
    avx512 = traits['HW_CPU_X86_AVX512F']
    assert avx512.found is ABSENT
    assert avx512.reason == (
        'the model Icelake-Server is not usable here for want of hle, rtm'
    )


def test_a_model_of_which_libvirt_is_not_sure_leaves_a_doubt(case):
    case.baseline('Nehalem', require=['pni'])
    case.baseline('EPYC-Milan', require=['pni', 'vaes'])
    traits = case.traits(mode='custom', models=('Nehalem', 'EPYC-Milan'))
    assert traits['HW_CPU_X86_SSE3'].found is PRESENT
    assert traits['HW_CPU_X86_AVX512VAES'].found is UNKNOWN
    assert traits['HW_CPU_X86_AVX2'].found is ABSENT


def test_a_model_that_libvirt_does_not_know_is_named(case):
    case.baseline('Nehalem', require=['pni'])
    traits = case.traits(mode='custom', models=('Nehalem', 'NoSuch'))
    assert traits['HW_CPU_X86_SSE3'].found is PRESENT
    assert traits['HW_CPU_X86_AVX2'].found is ABSENT
    assert traits['HW_CPU_X86_AVX2'].reason == 'libvirt knows no model NoSuch'
    traits = case.traits(mode='custom', models=('NoSuch',))
    assert traits['HW_CPU_X86_SSE3'].found is UNKNOWN
    assert 'has NoSuch;' in traits['HW_CPU_X86_SSE3'].reason


def test_a_flag_is_added_if_the_hypervisor_can_give_it(case):
    case.baseline('Nehalem', require=['pni'])
    traits = case.traits(
        mode='custom',
        models=('Nehalem',),
        flags=('+aes', 'sha-ni', 'gfni'),
    )
    assert traits['HW_CPU_X86_AESNI'].sources == (
        '+aes in [libvirt] cpu_model_extra_flags',
    )
    assert traits['HW_CPU_X86_SHA'].found is ABSENT
    assert traits['HW_CPU_X86_AVX512GFNI'].found is UNKNOWN


def test_without_a_mode_guests_get_qemus_default_model(case):
    case.baseline('qemu64', require=['pni', 'sse2'], disable=['svm'])
    traits = case.traits(mode='none', flags=('+avx2',))
    assert traits['HW_CPU_X86_SSE2'].found is PRESENT
    assert traits['HW_CPU_X86_SVM'].found is ABSENT
    assert traits['HW_CPU_X86_AVX2'].found is ABSENT


def test_the_vendor_is_the_guests(case):
    """An Intel model on an AMD host: pcid is Intel's there."""
    case.baseline('Nehalem', require=['pcid'])
    traits = case.traits(mode='custom', models=('Nehalem',))
    assert traits['HW_CPU_X86_INTEL_PCID'].found is PRESENT
    case.domain({'require': ['pcid']}, libvirt_answers.EXPANDED)
    assert case.traits()['HW_CPU_X86_INTEL_PCID'].found is ABSENT


def test_libvirt_tells_the_bits_that_the_kernel_hides(case):
    names = {'require': ['ibpb', 'amd-ssbd'], 'disable': ['amd-no-ssb']}
    case.domain(names, libvirt_answers.EXPANDED)
    traits = case.traits()
    assert traits['HW_CPU_X86_AMD_IBPB'].found is PRESENT
    assert traits['HW_CPU_X86_AMD_SSBD'].found is PRESENT
    assert traits['HW_CPU_X86_AMD_NO_SSB'].found is ABSENT


@pytest.mark.parametrize(
    ('virt_type', 'expected'), [('kvm', PRESENT), ('qemu', UNKNOWN)]
)
def test_on_aarch64_the_kernel_lists_what_kvm_guests_get(
    case, tmp_path, virt_type, expected
):
    """libvirt has names for few features of it."""
    case.write('capabilities.xml', CAPABILITIES.replace('x86_64', 'aarch64'))
    text = DOMAIN.format(features=features({'require': ['sve']}))
    name = f'domain_capabilities/aarch64-virt-{virt_type}.xml'
    case.write(name, text)
    reader = guests.GuestReader(
        recorded_libvirt.Recorded(tmp_path),
        facts.GuestOptions(cpu=guest_cpu.CpuOptions(virt_type=virt_type)),
        no_programs,
    )
    known = Facts(
        machine='aarch64',
        kernel=processors.Processors(words=frozenset({'asimd'})),
        guest=reader.read(guests.Host(machine='aarch64')).cpu,
    )
    (asimd,) = (
        f
        for f in findings.findings(known)
        if f.trait == 'HW_CPU_AARCH64_ASIMD'
    )
    assert asimd.found is expected


def test_on_power_the_model_is_the_feature(case, tmp_path):
    case.write('capabilities.xml', CAPABILITIES.replace('x86_64', 'ppc64le'))
    case.write(
        'domain_capabilities/ppc64le-pseries-kvm.xml',
        DOMAIN.format(features='').replace('EPYC', 'POWER9'),
    )
    reader = guests.GuestReader(
        recorded_libvirt.Recorded(tmp_path),
        facts.GuestOptions(),
        no_programs,
    )
    known = Facts(
        machine='ppc64le',
        kernel=processors.Processors(words=frozenset({'POWER8'})),
        guest=reader.read(guests.Host(machine='ppc64le')).cpu,
    )
    traits = {f.trait: f.found for f in findings.findings(known)}
    assert traits['HW_CPU_PPC64LE_POWER9'] is PRESENT
    assert traits['HW_CPU_PPC64LE_POWER8'] is ABSENT
