# SPDX-License-Identifier: Apache-2.0
"""The traits that nova decides on the root of a compute node, by release.

Pure: no I/O, configuration, logging or clock. nova-compute adds and removes
these traits by itself, at its start and at each refresh, and leaves all others
alone. So nova-compute undoes what another writer does to these traits. The
agent does not know the release of the nova beside it, so ``is_novas`` follows
all releases from 2023.1 to 2026.2 (27 to 34) together. ``companion.py``,
``given_up.py``, ``reporter.py`` and the policy ask.
"""

import dataclasses
from collections.abc import Sequence

from ..tree import names


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Traits that nova decides, and since when.

    :ivar traits: names, and prefixes that end in ``*``
    :ivar since: the first release that decides them; 2023.1 and earlier ones
        are not told apart
    :ivar until: the last release; empty if it is still so in 2026.2
    :ivar source: the place in nova
    """

    traits: Sequence[str]
    since: str
    source: str
    until: str = ''


def _x86(*words: str) -> tuple[str, ...]:
    return tuple(f'HW_CPU_X86_{word}' for word in words)


_DRIVER = 'nova/virt/libvirt/driver.py'

TABLE: Sequence[Decided] = (
    Decided(
        # nova has a word for each capability of its driver, status and device
        # model, and may have more of them in any release.
        traits=('COMPUTE_*',),
        since='2023.1',
        source='nova/virt/driver.py: CAPABILITY_TRAITS_MAP; '
        'nova/compute/resource_tracker.py: _get_traits; '
        f'{_DRIVER}: static_traits',
    ),
    Decided(
        traits=('OWNER_NOVA',),
        since='2023.1',
        source='nova/compute/resource_tracker.py: _get_traits',
    ),
    Decided(
        traits=_x86(
            *('3DNOW', 'ABM', 'AESNI', 'AMD_SVM', 'AVX', 'AVX2'),
            *('AVX512BITALG', 'AVX512BW', 'AVX512CD', 'AVX512DQ', 'AVX512ER'),
            *('AVX512F', 'AVX512GFNI', 'AVX512IFMA', 'AVX512PF'),
            *('AVX512VAES', 'AVX512VBMI', 'AVX512VBMI2', 'AVX512VL'),
            *('AVX512VNNI', 'AVX512VPCLMULQDQ', 'AVX512VPOPCNTDQ'),
            *('BMI', 'BMI2', 'CLMUL', 'F16C', 'FMA3', 'FMA4', 'INTEL_VMX'),
            *('MMX', 'MPX', 'SHA', 'SSE', 'SSE2', 'SSE3', 'SSE41', 'SSE42'),
            *('SSE4A', 'SSSE3', 'SVM', 'TBM', 'VMX', 'XOP'),
        ),
        since='2023.1',
        source='nova/virt/libvirt/utils.py: CPU_TRAITS_MAPPING',
    ),
    Decided(
        traits=_x86('AMXBF16', 'AMXINT8', 'AMXTILE'),
        since='2026.1',
        source='nova/virt/libvirt/utils.py: CPU_TRAITS_MAPPING',
    ),
    Decided(
        traits=('HW_CPU_HYPERTHREADING',),
        since='2023.1',
        source=f'{_DRIVER}: _get_cpu_traits',
    ),
    Decided(
        traits=('HW_ARCH_*',),
        since='2023.2',
        source=f'{_DRIVER}: _get_cpu_arch_traits',
    ),
    Decided(
        traits=_x86('AMD_SEV'),
        since='2023.1',
        until='2025.1',
        source=f'{_DRIVER}: _get_cpu_traits',
    ),
    Decided(
        # On a child with MEM_ENCRYPTION_CONTEXT; nova takes them off the root.
        traits=_x86('AMD_SEV', 'AMD_SEV_ES', 'AMD_SEV_SNP', 'INTEL_TDX'),
        since='2025.2',
        source=f'{_DRIVER}: _update_provider_tree_for_memory_encryption',
    ),
)

_NAMES = frozenset(
    name for row in TABLE for name in row.traits if not name.endswith('*')
)
_PREFIXES = tuple(
    sorted(
        name.removesuffix('*')
        for row in TABLE
        for name in row.traits
        if name.endswith('*')
    )
)
_OF_NOVA_ALONE = ('COMPUTE_', 'OWNER_NOVA')

# nova-compute adds these to a root, or takes them away, without asking
# ``update_provider_tree`` of its driver. Source: nova/virt/driver.py:
# CAPABILITY_TRAITS_MAP, from 2024.1 to 2026.2; nova/compute/
# resource_tracker.py: _get_traits.
_CAPABILITIES = tuple(
    f'COMPUTE_{word}'
    for word in (
        *('ACCELERATORS', 'ADDRESS_SPACE_EMULATED'),
        *('ADDRESS_SPACE_PASSTHROUGH', 'DEVICE_TAGGING'),
        *('EPHEMERAL_ENCRYPTION', 'EPHEMERAL_ENCRYPTION_LUKS'),
        *('EPHEMERAL_ENCRYPTION_PLAIN', 'MEM_BACKING_FILE'),
        *('NET_ATTACH_INTERFACE', 'NET_ATTACH_INTERFACE_WITH_TAG'),
        *('REMOTE_MANAGED_PORTS', 'RESCUE_BFV', 'SAME_HOST_COLD_MIGRATE'),
        *('SECURITY_STATELESS_FIRMWARE', 'SECURITY_UEFI_SECURE_BOOT'),
        *('SOCKET_PCI_NUMA_AFFINITY', 'STORAGE_VIRTIO_FS', 'TRUSTED_CERTS'),
        *('VOLUME_ATTACH_WITH_TAG', 'VOLUME_EXTEND', 'VOLUME_MULTI_ATTACH'),
    )
)
_NOVA_COMPUTES = frozenset(
    (
        *_CAPABILITIES,
        names.COMPUTE_NODE,
        names.COMPUTE_STATUS_DISABLED,
        names.OWNER_NOVA,
    )
)
_IMAGE_TYPES = 'COMPUTE_IMAGE_TYPE_'
#: nova's trait of a PCI device that it reports, and of no other provider.
MANAGED_PCI = 'COMPUTE_MANAGED_PCI_DEVICE'


def is_novas(trait: str) -> bool:
    """Return True if nova decides this trait on the root of a node."""
    return trait in _NAMES or trait.startswith(_PREFIXES)


def is_nova_computes(trait: str) -> bool:
    """Return True if nova-compute decides this trait itself.

    Its driver may describe the trait or not.
    """
    return trait in _NOVA_COMPUTES or trait.startswith(_IMAGE_TYPES)


def says_nova(trait: str) -> bool:
    """Return True for a trait by which nova knows a provider as its own.

    No provider of another writer may have it. nova-compute does not even
    start if another writer's child has COMPUTE_MANAGED_PCI_DEVICE while nova
    itself reports no PCI devices.
    """
    return trait.startswith(_OF_NOVA_ALONE)
