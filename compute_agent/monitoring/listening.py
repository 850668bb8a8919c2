# SPDX-License-Identifier: Apache-2.0
"""An address at which a server of ours is to listen: the path, the refusal.

``server.py`` uses it for the daemon, ``cmd/explore/web_server.py`` for a
person's pages.
"""

import errno
import logging
import os
import pathlib
import socket
import stat

from .values.address import Address

LOG = logging.getLogger(__name__)


def make_way(path: pathlib.Path | None) -> None:
    """Remove the socket of a daemon that is gone.

    :raises OSError: another file has the path, or another process listens
        there
    """
    if path is None or not os.path.lexists(path):
        return
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    with socket.socket(socket.AF_UNIX) as probe:
        # A full queue would keep the caller for as long as nobody accepts.
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except BlockingIOError:
            LOG.debug('%s has a full queue, so a process listens', path)
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def refusal(option: str, address: Address, exc: OSError) -> str:
    """Return the message for an address that cannot be used.

    :param option: how a person gave the address
    """
    advice = {
        errno.EADDRINUSE: 'another process listens there: stop it, or set '
        'another address',
        errno.EACCES: 'this user may not: set a port above 1023, or a path '
        'in a directory of its own',
        errno.EADDRNOTAVAIL: 'this host has no such address: set one of its '
        'own',
        errno.EEXIST: 'a file that is no socket has this path: remove it, or '
        'set another path',
        errno.ENOENT: 'its directory is missing: make it, or set another path',
    }.get(exc.errno or 0, 'set another address')
    return (
        f'{option}: cannot listen at {address} '
        f'({exc.strerror or exc}); {advice}'
    )
