# SPDX-License-Identifier: Apache-2.0
"""The GPUs and accelerators of a host, by PCI address.

It does I/O through ``HostFiles``. The class of a PCI device decides: 03 is a
display controller, 12 an accelerator. A missing file of a device means
nothing of the kind, as in ``pci.py``; the driver of a device that can be
divided for guests makes ``mdev_supported_types``.
"""

from ....host_files import HostFiles
from .. import family as family_module
from .. import parsing
from ..fact import Device, Fact
from ..family import Absent, Family
from . import pci

FAMILY = 'gpu'

_CLASSES = ('03', '12')


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the GPUs and accelerators.

    A device whose class cannot be read makes the list unknown: it may be one.
    """
    return family_module.devices(
        FAMILY,
        pci.FOLDER,
        files,
        lambda: _addresses(files),
        lambda address: _device(address, files),
    )


def _addresses(files: HostFiles) -> list[str]:
    return [
        address
        for address in files.listed(pci.FOLDER)
        if _class(files, address).startswith(_CLASSES)
    ]


def _class(files: HostFiles, address: str) -> str:
    return parsing.hexadecimal(
        files.read(f'{pci.FOLDER}/{address}/class').strip()
    )


def _device(address: str, files: HostFiles) -> Device | None:
    folder = f'{pci.FOLDER}/{address}'
    family = Family(FAMILY, files)
    pci.add_identity(family, folder)
    pci.add_functions(family, folder)
    family.names(
        'mdev_types',
        f'{folder}/mdev_supported_types',
        Absent(value=(), given=folder),
    )
    family.file(
        'boot_vga',
        f'{folder}/boot_vga',
        parsing.switch,
        Absent(value=False, given=folder),
    )
    # Only the driver amdgpu tells it.
    family.file(
        'memory_bytes', f'{folder}/mem_info_vram_total', parsing.integer
    )
    return family.device(address)
