# SPDX-License-Identifier: Apache-2.0
"""Protection of the host and its guests: TPM, encrypted memory, secure boot.

It does I/O through ``HostFiles``. A missing file means something in these
cases: a TPM has a folder in ``/sys/class/tpm``, a host that was booted by UEFI
has ``/sys/firmware/efi``, and a kernel without lockdown, FIPS mode or an
ultravisor has no file for it. The modules of KVM tell which encrypted guests
can run: while the module of this processor's vendor is not loaded, that is
unknown, and false for the other vendor's.
"""

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Fact, Value
from .family import Family, listed

_TPM = '/sys/class/tpm'
_EFI = '/sys/firmware/efi'
# The variable's name has the GUID of the UEFI specification.
_SECURE_BOOT = (
    f'{_EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
)
_LOCKDOWN = '/sys/kernel/security/lockdown'
_ASIDS = '/sys/fs/cgroup/misc.capacity'
_NODES = '/sys/devices/system/node'
_AMD = 'AuthenticAMD', 'HygonGenuine'
_INTEL = ('GenuineIntel',)


def read(files: HostFiles, vendor: Value, flags: Value) -> tuple[Fact, ...]:
    """Return the facts about protection.

    :param vendor: ``cpu.vendor``, None if it is unknown
    :param flags: ``cpu.flags``, None if they are unknown
    """
    family = Family('security', files)
    _tpm(family)
    _boot(family)
    for attribute in ('sev', 'sev_es', 'sev_snp'):
        _of_kvm(family, attribute, 'kvm_amd', known=_is(vendor, _AMD))
    _of_kvm(family, 'tdx', 'kvm_intel', known=_is(vendor, _INTEL))
    family.computed('encrypted_guests', _ASIDS, lambda: _capacity(files))
    _sgx(family, flags)
    for attribute, path, given in (
        (
            'protected_virtualization',
            '/sys/firmware/uv/prot_virt_host',
            '/sys/firmware',
        ),
        ('fips', '/proc/sys/crypto/fips_enabled', '/proc/sys'),
    ):
        family.file(attribute, path, parsing.switch, False, given)
    family.file(
        'random_generator',
        '/sys/class/misc/hw_random/rng_current',
        lambda text: '' if text == 'none' else text,
        '',
        '/sys/class',
    )
    return family.facts


def _tpm(family: Family) -> None:
    family.computed(
        'tpm', _TPM, lambda: 'tpm0' in listed(family.files, _TPM, '/sys/class')
    )
    if family.value('tpm') is False:
        family.known('tpm_version', 0, _TPM)
        return
    path = f'{_TPM}/tpm0/tpm_version_major'
    family.file('tpm_version', path, parsing.integer)


def _boot(family: Family) -> None:
    files = family.files
    family.computed('efi', _EFI, lambda: _has_efi(files))
    if family.value('efi') is False:
        family.known('secure_boot', False, _EFI)
    else:
        family.computed('secure_boot', _SECURE_BOOT, lambda: _is_secure(files))
    # If securityfs is there, the list of modules is there, too.
    family.file(
        'lockdown',
        _LOCKDOWN,
        parsing.chosen,
        'none',
        '/sys/kernel/security/lsm',
    )


def _has_efi(files: HostFiles) -> bool:
    files.listed('/sys/firmware')
    return files.exists(_EFI)


def _is_secure(files: HostFiles) -> bool:
    """Return the variable's value, which follows four octets of attributes.

    Without efivarfs, its folder is empty. A firmware with variables, but
    without this variable, cannot boot securely.
    """
    folder, _, name = _SECURE_BOOT.rpartition('/')
    listed = files.listed(folder)
    if listed and name not in listed:
        return False
    content = files.octets(_SECURE_BOOT, 5)
    if content is None or len(content) != 5:
        raise ValueError('the variable of the firmware cannot be read')
    return content[4] == 1


def _of_kvm(
    family: Family, attribute: str, module: str, *, known: bool | None
) -> None:
    """Add if KVM can run guests of this kind."""
    files = family.files
    folder = f'/sys/module/{module}'
    source = f'{folder}/parameters/{attribute}'
    if known is False:
        family.known(attribute, False, 'cpu.vendor')
        return
    if not files.names(folder):
        family.unknown(attribute, f'{module} is not loaded', source)
        return
    # A kernel that knows nothing of the kind has no parameter for it.
    family.file(
        attribute, source, parsing.switch, False, f'{folder}/parameters'
    )


def _is(vendor: Value, of: tuple[str, ...]) -> bool | None:
    return vendor in of if vendor else None


def _capacity(files: HostFiles) -> dict[str, Value]:
    """Return the kind of encrypted guest → how many the host can run."""
    found: dict[str, Value] = {}
    for line in files.read(_ASIDS).splitlines():
        kind, _, amount = line.partition(' ')
        found[kind] = parsing.integer(amount)
    return found


def _sgx(family: Family, flags: Value) -> None:
    if isinstance(flags, tuple):
        family.known('sgx', 'sgx' in flags, 'cpu.flags')
    else:
        family.unknown(
            'sgx', 'the processor features are unknown', 'cpu.flags'
        )
    path = f'{_NODES}/node*/x86/sgx_total_bytes'
    if family.value('sgx') is False:
        family.known('sgx_bytes', {}, 'cpu.flags')
        return
    # The bytes of each NUMA node's enclave page cache (Linux 5.17).
    family.computed(
        'sgx_bytes',
        path,
        lambda: {
            str(number): parsing.integer(
                family.text(f'{_NODES}/node{number}/x86/sgx_total_bytes')
            )
            for number in parsing.numbers(
                family.files.read(f'{_NODES}/online')
            )
        },
    )
