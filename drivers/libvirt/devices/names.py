# SPDX-License-Identifier: Apache-2.0
"""The names of child providers, which nova parses back.

Pure: no I/O, configuration, logging or clock. nova finds the device of an
allocated VGPU by the part of the provider's name behind the host's, and a PCI
device by the upper-case address in it. So each name has exactly one form.
"""

import re

from .child import Kind

AMD_SEV = 'amd_sev'
AMD_SEV_ES = 'amd_sev_es'
AMD_SEV_SNP = 'amd_sev_snp'
INTEL_TDX = 'intel_tdx'
ENCRYPTIONS = (AMD_SEV, AMD_SEV_ES, AMD_SEV_SNP, INTEL_TDX)

_ADDRESS = re.compile(r'[0-9A-Fa-f]{4,}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]')
_NUMA_NODE = re.compile(r'NUMA\d+', re.ASCII)
_PCI_DEVICE = re.compile(
    r'pci_([0-9a-f]{4,})_([0-9a-f]{2})_([0-9a-f]{2})_([0-7])'
)
# A parent without a PCI address: mtty_mtty, ap_matrix, css_0_0_0033.
_OTHER_PARENT = re.compile(r'([a-z0-9]+)_\1|ap_matrix|css(_[0-9a-f]+){3}')


def pci(root: str, address: str) -> str:
    """Return the name of a PCI device's provider."""
    return f'{root}_{address.upper()}'


def node_device(root: str, device: str) -> str:
    """Return the name of the provider of a parent of mediated devices."""
    return f'{root}_{device}'


def memory_encryption(root: str, model: str) -> str:
    """Return the name of the provider of one kind of encryption."""
    return f'{root}_{model}'


def numa_node(root: str, number: int) -> str:
    """Return the name of the provider of a NUMA node."""
    return f'{root}_NUMA{number}'


def is_address(text: str) -> bool:
    """Return True if the text is the address of a PCI function."""
    return _ADDRESS.fullmatch(text) is not None


def is_mdev_parent(device: str) -> bool:
    """Return True if libvirt may call a parent of mediated devices so."""
    return bool(
        _PCI_DEVICE.fullmatch(device) or _OTHER_PARENT.fullmatch(device)
    )


def address(device: str) -> str | None:
    """Return the PCI address in libvirt's name of a device, if it has one."""
    found = _PCI_DEVICE.fullmatch(device)
    return '{}:{}:{}.{}'.format(*found.groups()) if found else None


def kind(root: str, name: str) -> Kind | None:
    """Return the kind of child that has such a name, None if none has."""
    rest = name.removeprefix(f'{root}_')
    if rest == name:
        return None
    if rest in ENCRYPTIONS:
        return Kind.MEMORY_ENCRYPTION
    if _NUMA_NODE.fullmatch(rest):
        return Kind.NUMA
    if is_address(rest) and rest == rest.upper():
        return Kind.PCI
    return Kind.MDEV if is_mdev_parent(rest) else None


def device_of(root: str, name: str) -> str | None:
    """Return the PCI address that a provider's name has, in lower case.

    It understands the names of every project that puts the address, or
    libvirt's name of the device, behind the host's name.
    """
    rest = name.removeprefix(root).lstrip('_:').lower()
    return rest if is_address(rest) else address(rest)
