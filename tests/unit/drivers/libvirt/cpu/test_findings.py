# SPDX-License-Identifier: Apache-2.0
"""Which source decides a trait, and what it says when it cannot."""

import dataclasses

import pytest

from compute_agent.virt.values import finding
from drivers.libvirt.cpu import cpu_traits, findings, processors
from drivers.libvirt.cpu.findings import Facts, ReportedFlags

PRESENT, ABSENT, UNKNOWN = (
    finding.Found.PRESENT,
    finding.Found.ABSENT,
    finding.Found.UNKNOWN,
)
SEV = '/sys/module/kvm_amd/parameters/sev'
ON_CHILD = 'it belongs on a child provider with MEM_ENCRYPTION_CONTEXT, not on the host'
SMT = '/sys/devices/system/cpu/smt/active'


def facts(words='', *, reported=None, vendor='GenuineIntel', **switches):
    return Facts(
        machine='x86_64',
        kernel=kernel(words, vendor),
        reported=answer_of(reported),
        switches={SEV: switches.get('sev'), SMT: switches.get('smt')},
    )


def kernel(words, vendor='GenuineIntel'):
    if words is None:
        reason = '/proc/cpuinfo cannot be read'
        return processors.Processors(reason=reason, vendor=vendor)
    return processors.Processors(words=frozenset(words.split()), vendor=vendor)


def answer_of(flags):
    if flags is None:
        return ReportedFlags(reason='py-cpuinfo gave no flags')
    return ReportedFlags(flags=frozenset(flags.split()))


def of(trait, facts):
    (found,) = [f for f in findings.findings(facts) if f.trait == trait]
    return found


def test_what_the_kernel_lists_is_present():
    found = of('HW_CPU_X86_AVX2', facts('avx2'))
    assert (found.found, found.fact, found.sources) == (
        PRESENT,
        'avx2',
        ('kernel',),
    )


def test_both_sources_are_named_though_they_spell_it_differently():
    found = of('HW_CPU_X86_SHA', facts('sha_ni', reported='sha'))
    assert found.sources == ('kernel', 'py-cpuinfo')


def test_what_the_kernel_does_not_list_is_absent_with_its_word():
    found = of('HW_CPU_X86_AVX2', facts('avx'))
    assert (found.found, found.fact, found.reason) == (ABSENT, 'avx2', '')


def test_the_kernel_vetoes_what_py_cpuinfo_alone_claims():
    found = of('HW_CPU_X86_3DNOW', facts('mmx', reported='3dnow mmx'))
    assert found.found is ABSENT
    assert found.sources == ('py-cpuinfo',)
    assert found.reason == (
        'py-cpuinfo reports 3dnow, but the kernel does not'
    )


def test_a_word_of_some_processors_only_is_absent():
    seen = facts('avx')
    some = dataclasses.replace(
        seen,
        kernel=dataclasses.replace(seen.kernel, partial=frozenset({'avx2'})),
    )
    found = of('HW_CPU_X86_AVX2', some)
    assert found.found is ABSENT
    assert found.reason == 'only some of the processors have it'


def test_without_the_kernel_py_cpuinfo_may_say_yes():
    found = of('HW_CPU_X86_AVX2', facts(None, reported='avx2'))
    assert (found.found, found.sources) == (PRESENT, ('py-cpuinfo',))
    assert '/proc/cpuinfo cannot be read' in found.reason


def test_without_the_kernel_py_cpuinfo_may_not_say_no():
    found = of('HW_CPU_X86_AVX2', facts(None, reported='avx'))
    assert found.found is UNKNOWN
    assert 'proves nothing' in found.reason


def test_what_py_cpuinfo_misreads_is_unknown_without_the_kernel():
    found = of('HW_CPU_X86_3DNOW', facts(None, reported='3dnow'))
    assert found.found is UNKNOWN
    assert 'misreads' in found.reason


def test_what_py_cpuinfo_does_not_look_for_is_unknown_without_the_kernel():
    found = of('HW_CPU_X86_PDPE1GB', facts(None, reported='avx pdpe1gb'))
    assert found.found is UNKNOWN


def test_without_any_source_all_words_are_unknown_with_both_reasons():
    found = of('HW_CPU_X86_AVX2', facts(None))
    assert found.found is UNKNOWN
    assert found.reason == (
        '/proc/cpuinfo cannot be read; py-cpuinfo gave no flags'
    )
    assert not facts(None).answered


def test_py_cpuinfo_decides_what_the_kernel_has_no_word_for():
    row = cpu_traits.Row('HW_CPU_X86_ASF', pycpuinfo=('asf',))
    yes = findings.decide(row, facts('avx', reported='asf'))
    no = findings.decide(row, facts('avx', reported='avx'))
    assert (yes.found, no.found) == (PRESENT, UNKNOWN)
    assert 'the kernel has no word for it' in no.reason


@pytest.mark.parametrize('maker', ['svm', 'vmx'])
def test_virtualization_gives_the_common_and_the_makers_trait(maker):
    vendor, name = {
        'svm': ('AuthenticAMD', 'AMD_SVM'),
        'vmx': ('GenuineIntel', 'INTEL_VMX'),
    }[maker]
    seen = facts(maker, vendor=vendor)
    assert of(f'HW_CPU_X86_{maker.upper()}', seen).found is PRESENT
    assert of(f'HW_CPU_X86_{name}', seen).found is PRESENT


def test_tsx_is_decided_by_rtm():
    assert of('HW_CPU_X86_TSX', facts('hle')).found is ABSENT
    assert of('HW_CPU_X86_TSX', facts('rtm')).found is PRESENT


@pytest.mark.parametrize(
    ('vendor', 'intel', 'amd'),
    [
        ('GenuineIntel', PRESENT, ABSENT),
        ('AuthenticAMD', ABSENT, UNKNOWN),
        ('HygonGenuine', ABSENT, UNKNOWN),
        ('', UNKNOWN, UNKNOWN),
    ],
)
def test_ssbd_is_decided_by_the_maker(vendor, intel, amd):
    seen = facts('ssbd', vendor=vendor)
    assert of('HW_CPU_X86_INTEL_SSBD', seen).found is intel
    assert of('HW_CPU_X86_AMD_SSBD', seen).found is amd


def test_the_maker_is_taken_from_py_cpuinfo_if_the_kernel_is_silent():
    seen = dataclasses.replace(
        facts(None, vendor=''),
        reported=ReportedFlags(
            flags=frozenset({'vmx'}), vendor='GenuineIntel'
        ),
    )
    assert of('HW_CPU_X86_INTEL_VMX', seen).found is PRESENT


def test_an_absent_word_is_absent_whoever_made_the_processor():
    seen = facts('avx', vendor='')
    assert of('HW_CPU_X86_INTEL_VMX', seen).found is ABSENT


def test_virt_ssbd_may_be_left_out_beside_ssbd():
    name, amd = 'HW_CPU_X86_AMD_VIRT_SSBD', 'AuthenticAMD'
    assert of(name, facts('virt_ssbd ssbd', vendor=amd)).found is PRESENT
    assert of(name, facts('ssbd', vendor=amd)).found is UNKNOWN
    assert of(name, facts('avx', vendor=amd)).found is ABSENT
    assert of(name, facts('ssbd')).found is ABSENT


@pytest.mark.parametrize(
    ('words', 'parameter', 'reason'),
    [
        ('sev', 'Y', ON_CHILD),
        ('sev', '1', ON_CHILD),
        ('sev', 'N', f'{SEV} is N: turned off; {ON_CHILD}'),
        ('sev', '0', f'{SEV} is 0: turned off; {ON_CHILD}'),
        (
            'sev',
            None,
            f'{SEV} cannot be read; is the kernel module loaded?; {ON_CHILD}',
        ),
        (
            'sev',
            'perhaps',
            f"{SEV} is 'perhaps', which is neither on nor off; {ON_CHILD}",
        ),
        ('svm', 'Y', ON_CHILD),
        ('svm', None, ON_CHILD),
    ],
)
def test_the_root_never_has_sev_and_the_evidence_says_why(
    words, parameter, reason
):
    """A request for SEV would be offered a context of SEV-ES."""
    seen = facts(words, vendor='AuthenticAMD', sev=parameter)
    sev = of('HW_CPU_X86_AMD_SEV', seen)
    assert sev.found is ABSENT
    assert sev.reason == reason
    assert bool(sev.sources) is ('sev' in words)


@pytest.mark.parametrize(
    ('active', 'found'), [('1', PRESENT), ('0', ABSENT), (None, UNKNOWN)]
)
def test_hyperthreading_is_what_smt_says_and_not_the_flag_ht(active, found):
    assert of('HW_CPU_HYPERTHREADING', facts('ht', smt=active)).found is found


def test_only_a_module_parameter_asks_for_the_module():
    seen = facts('sev', vendor='AuthenticAMD')
    assert of('HW_CPU_HYPERTHREADING', seen).reason == f'{SMT} cannot be read'


def test_traits_of_other_processors_are_absent():
    seen = facts('aes')
    assert of('HW_CPU_AARCH64_AES', seen).found is ABSENT
    assert of('HW_CPU_PPC64LE_POWER9', seen).found is ABSENT
    assert of('HW_ARCH_AARCH64', seen).found is ABSENT


def test_x86_traits_are_absent_on_arm_even_with_the_same_word():
    seen = Facts(machine='aarch64', kernel=kernel('aes', ''))
    assert of('HW_CPU_AARCH64_AES', seen).found is PRESENT
    assert of('HW_CPU_X86_AESNI', seen).found is ABSENT
    assert of('HW_CPU_X86_ASF', seen).found is ABSENT


@pytest.mark.parametrize(
    ('machine', 'trait'),
    [
        ('armv6l', 'HW_ARCH_ARMV6'),
        ('armv7l', 'HW_ARCH_ARMV7'),
        ('i386', 'HW_ARCH_I686'),
        ('i586', 'HW_ARCH_I686'),
        ('ppc64', 'HW_ARCH_PPC64'),
        ('s390x', 'HW_ARCH_S390X'),
    ],
)
def test_the_machine_name_gives_the_architecture(machine, trait):
    seen = Facts(machine=machine, kernel=kernel(None))
    present = [f.trait for f in findings.findings(seen) if f.found is PRESENT]
    assert present == [trait]


@pytest.mark.parametrize('machine', ['riscv64', 'loongarch64'])
def test_a_machine_without_a_trait_says_so(machine):
    seen = Facts(machine=machine, kernel=kernel(None))
    (found,) = [f for f in findings.findings(seen) if f.trait is None]
    assert found.fact == machine
    assert 'os-traits has no' in found.reason
    assert seen.answered


def test_findings_come_in_the_order_an_operator_reads_them():
    seen = facts('avx adx', reported='3dnow', smt='0')
    answers = [
        'word'
        if f.trait is None
        else 'refused'
        if f.found is ABSENT and f.sources
        else f.found.value
        for f in findings.findings(seen)
    ]
    assert list(dict.fromkeys(answers)) == [
        'present',
        'refused',
        'unknown',
        'absent',
        'word',
    ]


def test_words_of_a_row_are_not_shown_as_without_a_trait():
    words = [
        f.fact
        for f in findings.findings(facts('avx ssbd adx'))
        if f.trait is None
    ]
    assert words == ['adx']
