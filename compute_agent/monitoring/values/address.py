# SPDX-License-Identifier: Apache-2.0
"""The address at which the daemon answers HTTP, as the option spells it.

Pure: no I/O, configuration, logging or clock. ``conf/compute_agent.py`` checks
the option with it.
"""

import dataclasses
import ipaddress
import pathlib
import re

_UNIX = 'unix:'
_LONGEST_PATH = 107  # bytes, of sockaddr_un
_HINT = 'write "127.0.0.1:PORT", "[::1]:PORT" or "unix:/path"'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An IP address and a port, or the path of a unix socket.

    :ivar path: None for an IP address
    """

    host: str = ''
    port: int = 0
    path: pathlib.Path | None = None

    @property
    def is_local(self) -> bool:
        """True if only this host can reach it."""
        return (
            self.path is not None
            or ipaddress.ip_address(self.host).is_loopback
        )

    @property
    def is_ipv6(self) -> bool:
        """True for an address of IPv6."""
        return ':' in self.host

    def __str__(self) -> str:
        if self.path is not None:
            return f'{_UNIX}{self.path}'
        host = f'[{self.host}]' if self.is_ipv6 else self.host
        return f'{host}:{self.port}'


def parse(text: str) -> Address:
    """Return the address.

    :raises ValueError: the text is not an address
    """
    if text.startswith(_UNIX):
        return _of_path(text.removeprefix(_UNIX))
    found = re.fullmatch(r'(?:\[([^\]]*)\]|([^:\[]*)):([0-9]{1,5})', text)
    if found is None or int(found[3]) > 65535:
        raise ValueError(f'{text} is no address: {_HINT}')
    host, is_bracketed = found[1] or found[2] or '', found[2] is None
    try:
        version = ipaddress.ip_address(host).version
    except ValueError as exc:
        raise ValueError(f'{text} has no IP address: {_HINT}') from exc
    if (version == 6) is not is_bracketed:
        raise ValueError(f'{text} is no address: {_HINT}')
    return Address(host=host, port=int(found[3]))


def _of_path(path: str) -> Address:
    if not path.startswith('/') or '\0' in path:
        raise ValueError(f'{path} is no absolute path: write "unix:/path"')
    if len(path.encode()) > _LONGEST_PATH:
        raise ValueError(
            f'{path} is longer than {_LONGEST_PATH} bytes, and no path of a '
            'unix socket may be'
        )
    return Address(path=pathlib.Path(path))
