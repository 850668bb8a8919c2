# SPDX-License-Identifier: Apache-2.0
"""The USB devices of a host, by the port that they are at.

It does I/O through ``HostFiles``. Hubs count as devices, interfaces as parts of
theirs. Serial numbers are left out. A device that gives no text for its make
has no file for it: the fact is empty.
"""

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact
from . import family as family_module
from .family import Absent, Family

FAMILY = 'usb'
FOLDER = '/sys/bus/usb/devices'


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the USB devices."""
    return family_module.devices(
        FAMILY,
        FOLDER,
        files,
        # An interface has the name of its device, a colon and two numbers.
        lambda: [name for name in files.listed(FOLDER) if ':' not in name],
        lambda name: _device(name, files),
    )


def _device(name: str, files: HostFiles) -> Device | None:
    folder = f'{FOLDER}/{name}'
    family = Family(FAMILY, files)
    for attribute, file in (
        ('vendor', 'idVendor'),
        ('product', 'idProduct'),
        ('class', 'bDeviceClass'),
    ):
        family.file(attribute, f'{folder}/{file}', parsing.hexadecimal)
    none = Absent(value='', given=folder)
    family.file('manufacturer', f'{folder}/manufacturer', absent=none)
    family.file('product_name', f'{folder}/product', absent=none)
    family.file('speed_mbps', f'{folder}/speed', parsing.number)
    family.computed(
        'interface_classes',
        f'{folder}/*/bInterfaceClass',
        lambda: _interfaces(files, name),
    )
    return family.device(name)


def _interfaces(files: HostFiles, name: str) -> tuple[str, ...]:
    prefix = f'{name}:'
    return tuple(
        sorted(
            {
                parsing.hexadecimal(
                    files.read(f'{FOLDER}/{other}/bInterfaceClass').strip()
                )
                for other in files.listed(FOLDER)
                if other.startswith(prefix)
            }
        )
    )
