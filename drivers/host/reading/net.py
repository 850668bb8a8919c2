# SPDX-License-Identifier: Apache-2.0
"""The network interfaces that have a device, by name.

It does I/O through ``HostFiles``. Bridges, bonds, VLANs and the interfaces of
guests have no device, and are left out. The kernel refuses to tell the speed of
an interface that is down: it is unknown. The folders ``infiniband`` and ``ptp``
of a device exist exactly if a driver offers RDMA or a clock.

No file tells the offloads, so ``Ethtool`` asks the kernel: it opens a socket for
the requests that ``ethtool -k`` sends, which any user may. The names are those of
libvirt and, in capitals, of HW_NIC_OFFLOAD_*. An offload that the driver does not
know is not on; an interface that is gone is an error. Numbers:
include/uapi/linux/ethtool.h and sockios.h.
"""

import array
import dataclasses
import errno
import fcntl
import re
import socket
import struct
import typing
from collections.abc import Collection, Mapping

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact
from . import pci
from .family import Family, devices

_SIOCETHTOOL = 0x8946
_NAME = 16  # octets of an interface's name, with a zero at the end

# Offload → the request that tells 0 or 1.
_REQUESTS: Mapping[str, int] = {
    'rx': 0x14,
    'tx': 0x16,
    'sg': 0x18,
    'tso': 0x1E,
    'gso': 0x23,
    'gro': 0x2B,
}
_FLAGS = 0x25
# Offload → its bit in the answer to the request for flags.
_BITS: Mapping[str, int] = {
    'txvlan': 7,
    'rxvlan': 8,
    'lro': 15,
    'ntuple': 27,
    'rxhash': 28,
}
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EINVAL)


class Ethtool:
    """The offloads of this host's interfaces."""

    source = 'ethtool'

    def __call__(self, interface: str) -> frozenset[str]:
        """Return the names of the offloads that are on.

        :raises OSError: there is no such interface, or it has no such requests
        """
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            flags = _answer(asked, interface, _FLAGS)
            found = {name for name, bit in _BITS.items() if flags >> bit & 1}
            return frozenset(
                found
                | {
                    name
                    for name, request in _REQUESTS.items()
                    if _is_on(asked, interface, request)
                }
            )


def _is_on(asked: socket.socket, interface: str, request: int) -> bool:
    try:
        return bool(_answer(asked, interface, request))
    except OSError as exc:
        if exc.errno in _UNSUPPORTED:
            return False
        raise


def _answer(asked: socket.socket, interface: str, request: int) -> int:
    """Return the number that the kernel writes behind the request."""
    value = array.array('I', (request, 0))
    address, _ = value.buffer_info()
    name = interface.encode()[: _NAME - 1]
    fcntl.ioctl(asked, _SIOCETHTOOL, struct.pack('16sP16x', name, address))
    return value[1]


FAMILY = 'net'
FOLDER = '/sys/class/net'


class Offloads(typing.Protocol):
    """Tells which work an interface takes off the processor."""

    source: str

    def __call__(self, interface: str) -> Collection[str]:
        """Return the names of the offloads that are on.

        :raises OSError: the kernel does not tell
        """
        ...


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the interfaces, with the facts that stay while they exist."""
    return devices(FAMILY, FOLDER, files, _device)


def with_state(device: Device, files: HostFiles, offloads: Offloads) -> Device:
    """Return the interface with the facts that change while it exists."""
    family = Family(FAMILY, files, f'{FOLDER}/{device.name}')
    family.file('mtu', parse=parsing.integer)
    family.file('state', 'operstate')
    family.file('speed_mbps', 'speed', _speed)
    family.computed(
        'offloads',
        offloads.source,
        lambda: tuple(sorted(offloads(device.name))),
    )
    state = family.device(device.name)
    return dataclasses.replace(device, facts={**device.facts, **state.facts})


def _device(name: str, files: HostFiles) -> Device | None:
    folder = f'{FOLDER}/{name}'
    device = f'{folder}/device'
    # bonding_masters is a file among the interfaces.
    if not files.names(device):
        return None
    family = Family(FAMILY, files, folder)
    family.link('driver', 'device/driver', '', device)
    family.link('address', 'device', '', device)
    family.file('numa_node', 'device/numa_node', parsing.integer)
    family.file('type', parse=parsing.integer)
    pci.add_functions(family, device)
    # The kernel answers with an error where the driver has no such name.
    family.file('port_name', 'phys_port_name')
    family.file('switch_id', 'phys_switch_id')
    family.names('rdma', 'device/infiniband', (), device)
    family.names('clocks', 'device/ptp', (), device)
    for side in ('rx', 'tx'):
        family.counted(
            f'{side}_queues',
            'queues',
            re.compile(f'{side}-').match,
        )
    return family.device(name)


def _speed(text: str) -> int:
    """Return Mbit/s; drivers answer -1 while the link is down."""
    speed = parsing.integer(text)
    if speed < 0:
        raise ValueError('the link is down')
    return speed
