# SPDX-License-Identifier: Apache-2.0
"""The table of HW_ARCH_* traits and the machine names that mean them.

Pure: no I/O, configuration, logging or clock. The machine name is the
kernel's (``uname -m``). The traits are those of os-traits ``hw/arch.py``; a
test checks that the table is complete. ``findings.py`` reads it.
"""

import dataclasses


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
