# SPDX-License-Identifier: Apache-2.0
"""The USB devices of a host, by the port that they are at.

It does I/O through ``HostFiles``. Hubs count as devices, interfaces as parts of
theirs. Serial numbers are left out. A device that gives no text for its make
has no file for it: the fact is empty.
"""

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact
from .family import Family, devices

FAMILY = 'usb'
FOLDER = '/sys/bus/usb/devices'


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the USB devices."""
    return devices(
        FAMILY,
        FOLDER,
        files,
        _device,
        # An interface has the name of its device, a colon and two numbers.
        lambda: [name for name in files.listed(FOLDER) if ':' not in name],
    )


def _device(name: str, files: HostFiles) -> Device:
    family = Family(FAMILY, files, f'{FOLDER}/{name}')
    for attribute, file in (
        ('vendor', 'idVendor'),
        ('product', 'idProduct'),
        ('class', 'bDeviceClass'),
    ):
        family.file(attribute, file, parsing.hexadecimal)
    family.file('manufacturer', absent='')
    family.file('product_name', 'product', absent='')
    family.file('speed_mbps', 'speed', parsing.number)
    family.computed(
        'interface_classes',
        f'{family.folder}/*/bInterfaceClass',
        lambda: family.texts(
            (
                f'{FOLDER}/{other}/bInterfaceClass'
                for other in files.listed(FOLDER)
                if other.startswith(f'{name}:')
            ),
            parsing.hexadecimal,
        ),
    )
    return family.device(name)
