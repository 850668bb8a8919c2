# SPDX-License-Identifier: Apache-2.0
"""The tables of HW_CPU_* and HW_ARCH_* traits, and the words that mean them.

Pure: no I/O, configuration, logging or clock. There is one table of HW_CPU_* traits
for each family of processors, and one column for each source, because the three
sources spell the same bit in three ways. Every HW_CPU_* name of os-traits has
a row, or an entry with the reason in ``NOT_REPORTABLE``; every HW_ARCH_* name is in
``ARCH_TRAITS`` with the kernel's names of the machine (``uname -m``). Tests
check both. ``findings.py`` reads the tables.
"""

import dataclasses
from collections.abc import Iterator, Mapping

_INTEL = ('GenuineIntel',)
# Hygon sells AMD's first Zen processors under its own name.
_AMD = ('AuthenticAMD', 'HygonGenuine')

_KVM_AMD = '/sys/module/kvm_amd/parameters/'
_KVM_INTEL = '/sys/module/kvm_intel/parameters/'


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One trait and the words that mean it; one word of a column is enough.

    :ivar kernel: words of /proc/cpuinfo
    :ivar pycpuinfo: words of py-cpuinfo's own decoding
    :ivar libvirt: names in libvirt's cpu_map
    :ivar vendors: the vendors whose processors have it; empty for all
    :ivar switch: a file of the host that must also contain 1 or Y
    :ivar hidden_by: a word; if the kernel shows it, it may omit the others
    :ivar hidden: why the kernel shows no word for it; then only libvirt tells
    :ivar misread: py-cpuinfo decodes it wrongly, so its word proves nothing
    :ivar of_child: it belongs on a child with MEM_ENCRYPTION_CONTEXT, never on
        the host's own provider
    """

    trait: str
    kernel: tuple[str, ...] = ()
    pycpuinfo: tuple[str, ...] = ()
    libvirt: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    switch: str = ''
    hidden_by: str = ''
    hidden: str = ''
    misread: bool = False
    of_child: bool = False


def _x86(
    name: str,
    kernel: str,
    pycpuinfo: str,
    libvirt: str,
    vendors: tuple[str, ...] = (),
) -> Row:
    """Return the row of an x86 trait with at most one word of each source."""
    words = ((word,) if word else () for word in (kernel, pycpuinfo, libvirt))
    shown, decoded, named = words
    return Row(f'HW_CPU_X86_{name}', shown, decoded, named, vendors)


# Sources: Linux Documentation/ABI/testing/sysfs-devices-system-cpu. The flag
# "ht" is set on processors that have a single thread, so it proves nothing.
_ANY = (
    Row('HW_CPU_HYPERTHREADING', switch='/sys/devices/system/cpu/smt/active'),
)

# Sources: Linux Documentation/arch/arm64/elf_hwcaps.rst. The names there, in
# lower case, are the words of the Features line, and libvirt's names.
# py-cpuinfo returns that same line, so it is not a second source.
_AARCH64 = tuple(
    Row(f'HW_CPU_AARCH64_{word.upper()}', (word,), (), (word,))
    for word in (
        'aes',
        'asimd',
        'asimddp',
        'asimdhp',
        'asimdrdm',
        'atomics',
        'cpuid',
        'crc32',
        'dcpop',
        'evtstrm',
        'fcma',
        'fp',
        'fphp',
        'jscvt',
        'lrcpc',
        'pmull',
        'sha1',
        'sha2',
        'sha3',
        'sha512',
        'sm3',
        'sm4',
        'sve',
    )
)

# Sources: cpu_name in Linux arch/powerpc/kernel/cpu_specs_book3s_64.h, and
# libvirt's src/cpu_map/ppc64_POWER*.xml. py-cpuinfo has no processor names.
_PPC64LE = (
    Row(
        'HW_CPU_PPC64LE_POWER8',
        ('POWER8', 'POWER8E', 'POWER8NVL'),
        (),
        ('POWER8',),
    ),
    Row('HW_CPU_PPC64LE_POWER9', ('POWER9',), (), ('POWER9',)),
)

# Sources. Kernel: Linux arch/x86/include/asm/cpufeatures.h (a quoted comment
# is the word shown, "" hides it) and init_speculation_control() in
# arch/x86/kernel/cpu/common.c. py-cpuinfo: CPUID.get_flags() of 9.0.0, which
# reads leaf 0x80000001 from EBX instead of EDX: it takes 3dnow from the
# package type and misses pdpe1gb. libvirt: src/cpu_map/x86_features.xml. Vendors:
# os-traits has one vendor's traits in hw/cpu/x86/intel.py and amd.py.
_X86 = (
    Row('HW_CPU_X86_3DNOW', ('3dnow',), ('3dnow',), ('3dnow',), misread=True),
    _x86('ABM', 'abm', 'abm', 'abm'),
    _x86('AESNI', 'aes', 'aes', 'aes'),
    Row(
        'HW_CPU_X86_AMD_IBPB',
        libvirt=('ibpb',),
        vendors=_AMD,
        hidden="the kernel hides the bit: its word ibpb also means Intel's",
    ),
    Row(
        'HW_CPU_X86_AMD_NO_SSB',
        libvirt=('amd-no-ssb',),
        vendors=_AMD,
        hidden='the kernel hides the bit',
    ),
    # The flag says that the processor supports it, KVM that it is enabled.
    Row(
        'HW_CPU_X86_AMD_SEV',
        ('sev',),
        (),
        ('sev',),
        vendors=_AMD,
        switch=f'{_KVM_AMD}sev',
        of_child=True,
    ),
    Row(
        'HW_CPU_X86_AMD_SEV_ES',
        ('sev_es',),
        (),
        ('sev-es',),
        vendors=_AMD,
        switch=f'{_KVM_AMD}sev_es',
        of_child=True,
    ),
    Row(
        'HW_CPU_X86_AMD_SEV_SNP',
        ('sev_snp',),
        (),
        ('sev-snp',),
        vendors=_AMD,
        switch=f'{_KVM_AMD}sev_snp',
        of_child=True,
    ),
    Row(
        'HW_CPU_X86_AMD_SSBD',
        libvirt=('amd-ssbd',),
        vendors=_AMD,
        hidden='the kernel hides the bit: its word ssbd also means older '
        'methods',
    ),
    _x86('AMD_SVM', 'svm', 'svm', 'svm', _AMD),
    Row(
        'HW_CPU_X86_AMD_VIRT_SSBD',
        ('virt_ssbd',),
        (),
        ('virt-ssbd',),
        vendors=_AMD,
        hidden_by='ssbd',
    ),
    _x86('AMXBF16', 'amx_bf16', '', 'amx-bf16'),
    _x86('AMXINT8', 'amx_int8', '', 'amx-int8'),
    _x86('AMXTILE', 'amx_tile', '', 'amx-tile'),
    _x86('AVX', 'avx', 'avx', 'avx'),
    _x86('AVX2', 'avx2', 'avx2', 'avx2'),
    _x86('AVX512BITALG', 'avx512_bitalg', 'avx512bitalg', 'avx512bitalg'),
    _x86('AVX512BW', 'avx512bw', 'avx512bw', 'avx512bw'),
    _x86('AVX512CD', 'avx512cd', 'avx512cd', 'avx512cd'),
    _x86('AVX512DQ', 'avx512dq', 'avx512dq', 'avx512dq'),
    _x86('AVX512ER', 'avx512er', 'avx512er', 'avx512er'),
    _x86('AVX512F', 'avx512f', 'avx512f', 'avx512f'),
    # GFNI, VAES and VPCLMULQDQ also exist without AVX-512. The traits' names
    # are older than these processors.
    _x86('AVX512GFNI', 'gfni', 'gfni', 'gfni'),
    _x86('AVX512IFMA', 'avx512ifma', 'avx512ifma', 'avx512ifma'),
    _x86('AVX512PF', 'avx512pf', 'avx512pf', 'avx512pf'),
    _x86('AVX512VAES', 'vaes', 'vaes', 'vaes'),
    _x86('AVX512VBMI', 'avx512vbmi', 'avx512vbmi', 'avx512vbmi'),
    _x86('AVX512VBMI2', 'avx512_vbmi2', 'avx512vbmi2', 'avx512vbmi2'),
    _x86('AVX512VL', 'avx512vl', 'avx512vl', 'avx512vl'),
    _x86('AVX512VNNI', 'avx512_vnni', 'avx512vnni', 'avx512vnni'),
    _x86('AVX512VPCLMULQDQ', 'vpclmulqdq', 'vpclmulqdq', 'vpclmulqdq'),
    _x86(
        'AVX512VPOPCNTDQ',
        'avx512_vpopcntdq',
        'avx512vpopcntdq',
        'avx512-vpopcntdq',
    ),
    _x86('BMI', 'bmi1', 'bmi1', 'bmi1'),
    _x86('BMI2', 'bmi2', 'bmi2', 'bmi2'),
    # libvirt's name lacks one q.
    _x86('CLMUL', 'pclmulqdq', 'pclmulqdq', 'pclmuldq'),
    _x86('F16C', 'f16c', 'f16c', 'f16c'),
    _x86('FMA3', 'fma', 'fma', 'fma'),
    _x86('FMA4', 'fma4', 'fma4', 'fma4'),
    _x86('INTEL_MD_CLEAR', 'md_clear', '', 'md-clear', _INTEL),
    _x86('INTEL_PCID', 'pcid', 'pcid', 'pcid', _INTEL),
    Row(
        'HW_CPU_X86_INTEL_SPEC_CTRL',
        libvirt=('spec-ctrl',),
        vendors=_INTEL,
        hidden="the kernel hides the bit: its words ibrs and ibpb also mean AMD's",
    ),
    # The kernel shows Intel's bit and AMD's bit as the same word.
    _x86('INTEL_SSBD', 'ssbd', '', 'ssbd', _INTEL),
    Row(
        'HW_CPU_X86_INTEL_TDX',
        ('tdx_host_platform',),
        (),
        ('tdx',),
        vendors=_INTEL,
        switch=f'{_KVM_INTEL}tdx',
        of_child=True,
    ),
    _x86('INTEL_VMX', 'vmx', 'vmx', 'vmx', _INTEL),
    _x86('MMX', 'mmx', 'mmx', 'mmx'),
    _x86('MPX', 'mpx', 'mpx', 'mpx'),
    _x86('PDPE1GB', 'pdpe1gb', '', 'pdpe1gb'),
    _x86('SGX', 'sgx', 'sgx', 'sgx'),
    _x86('SHA', 'sha_ni', 'sha', 'sha-ni'),
    _x86('SSE', 'sse', 'sse', 'sse'),
    _x86('SSE2', 'sse2', 'sse2', 'sse2'),
    # pni: "Prescott new instructions"; only QEMU calls it sse3.
    _x86('SSE3', 'pni', 'pni', 'pni'),
    _x86('SSE41', 'sse4_1', 'sse4_1', 'sse4.1'),
    _x86('SSE42', 'sse4_2', 'sse4_2', 'sse4.2'),
    _x86('SSE4A', 'sse4a', 'sse4a', 'sse4a'),
    _x86('SSSE3', 'ssse3', 'ssse3', 'ssse3'),
    Row('HW_CPU_X86_STIBP', ('stibp',), (), ('amd-stibp', 'stibp')),
    _x86('SVM', 'svm', 'svm', 'svm'),
    _x86('TBM', 'tbm', 'tbm', 'tbm'),
    # TSX is HLE and RTM. HLE alone is a hint without a guaranteed effect.
    _x86('TSX', 'rtm', 'rtm', 'rtm'),
    _x86('VMX', 'vmx', 'vmx', 'vmx'),
    _x86('XOP', 'xop', 'xop', 'xop'),
)

ANY = 'any'
X86 = 'x86'

#: The rows of each family; ``any`` has the rows that need no processor word.
ROWS: Mapping[str, tuple[Row, ...]] = {
    'aarch64': _AARCH64,
    ANY: _ANY,
    'ppc64le': _PPC64LE,
    X86: _X86,
}

#: x86 traits that no source can detect, with the reason.
NOT_REPORTABLE: Mapping[str, str] = {
    'HW_CPU_AMD_SEV': (
        'deprecated duplicate of HW_CPU_X86_AMD_SEV, which is reported'
    ),
    'HW_CPU_X86_ASF': 'no processor with it was sold',
}

_FAMILIES: Mapping[str, str] = {
    'aarch64': 'aarch64',
    'i386': X86,
    'i486': X86,
    'i586': X86,
    'i686': X86,
    'ppc64le': 'ppc64le',
    'x86_64': X86,
}


def family(machine: str) -> str | None:
    """Return the key of ``ROWS`` for a machine name, None if none fits."""
    return _FAMILIES.get(machine)


def rows(of_family: str | None) -> Iterator[Row]:
    """Yield the rows that a machine of this family decides."""
    yield from ROWS[ANY]
    if of_family is not None:
        yield from ROWS[of_family]


def asks_pycpuinfo(of_family: str | None) -> bool:
    """Return True if py-cpuinfo is a source of its own for this family."""
    return any(row.pycpuinfo for row in rows(of_family))


def switches(of_family: str | None) -> tuple[str, ...]:
    """Return the files that the rows of this family need."""
    return tuple(row.switch for row in rows(of_family) if row.switch)


@dataclasses.dataclass(frozen=True, slots=True)
class ArchRow:
    """One trait and the machine names that mean it."""

    trait: str
    machines: tuple[str, ...]


# Sources: UTS_MACHINE in Linux arch/*/Makefile. If Linux has no port any more,
# or one word for both byte orders (mips, microblaze), the word is QEMU's
# target name; without a suffix it means big endian.
ARCH_TRAITS = (
    ArchRow('HW_ARCH_AARCH64', ('aarch64',)),
    ArchRow('HW_ARCH_ALPHA', ('alpha',)),
    ArchRow('HW_ARCH_ARMV6', ('armv6l',)),
    ArchRow('HW_ARCH_ARMV7', ('armv7l',)),
    ArchRow('HW_ARCH_ARMV7B', ('armv7b',)),
    ArchRow('HW_ARCH_CRIS', ('cris',)),
    ArchRow('HW_ARCH_I686', ('i686', 'i386', 'i486', 'i586')),
    ArchRow('HW_ARCH_IA64', ('ia64',)),
    ArchRow('HW_ARCH_LM32', ('lm32',)),
    ArchRow('HW_ARCH_M68K', ('m68k',)),
    ArchRow('HW_ARCH_MICROBLAZE', ('microblaze',)),
    ArchRow('HW_ARCH_MICROBLAZEEL', ('microblazeel',)),
    ArchRow('HW_ARCH_MIPS', ('mips',)),
    ArchRow('HW_ARCH_MIPS64', ('mips64',)),
    ArchRow('HW_ARCH_MIPS64EL', ('mips64el',)),
    ArchRow('HW_ARCH_MIPSEL', ('mipsel',)),
    ArchRow('HW_ARCH_OPENRISC', ('openrisc',)),
    ArchRow('HW_ARCH_PARISC', ('parisc',)),
    ArchRow('HW_ARCH_PARISC64', ('parisc64',)),
    ArchRow('HW_ARCH_PPC', ('ppc',)),
    ArchRow('HW_ARCH_PPC64', ('ppc64',)),
    ArchRow('HW_ARCH_PPC64LE', ('ppc64le',)),
    ArchRow('HW_ARCH_PPCEMB', ('ppcemb',)),
    ArchRow('HW_ARCH_PPCLE', ('ppcle',)),
    ArchRow('HW_ARCH_S390', ('s390',)),
    ArchRow('HW_ARCH_S390X', ('s390x',)),
    ArchRow('HW_ARCH_SH4', ('sh4', 'sh4a')),
    ArchRow('HW_ARCH_SH4EB', ('sh4eb',)),
    ArchRow('HW_ARCH_SPARC', ('sparc',)),
    ArchRow('HW_ARCH_SPARC64', ('sparc64',)),
    ArchRow('HW_ARCH_UNICORE32', ('unicore32',)),
    ArchRow('HW_ARCH_X86_64', ('x86_64',)),
    ArchRow('HW_ARCH_XTENSA', ('xtensa',)),
    ArchRow('HW_ARCH_XTENSAEB', ('xtensaeb',)),
)
