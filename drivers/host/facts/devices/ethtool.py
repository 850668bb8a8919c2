# SPDX-License-Identifier: Apache-2.0
"""Asks the kernel which offloads of a network interface are on.

It does I/O: a socket for the requests that ``ethtool -k`` sends, which any user
may. The names are those of libvirt and, in capitals, of HW_NIC_OFFLOAD_*. An
offload that the driver does not know is not on; an interface that is gone is an
error. Numbers: include/uapi/linux/ethtool.h and sockios.h.
"""

import array
import errno
import fcntl
import socket
import struct
from collections.abc import Mapping

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
