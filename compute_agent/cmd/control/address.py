# SPDX-License-Identifier: Apache-2.0
"""The control socket as a file: ``control.sock`` in the state directory.

Only the daemon's user and root can connect. The daemon calls ``listening``
while it holds the lock of the directory, so a socket that is there already is
that of a daemon that died, and is replaced. The kernel takes paths of up to
107 bytes; a longer one goes through ``/proc/self/fd``.
"""

import contextlib
import os
import pathlib
import socket
import stat
from collections.abc import Iterator

from ... import errors, private_files

NAME = 'control.sock'
LONGEST = 107  # bytes of a path
_BACKLOG = 64


def listening(folder: pathlib.Path) -> socket.socket:
    """Return a socket that listens in a state directory.

    Nobody can connect before its mode is 0600: a socket that does not listen
    yet refuses connections.

    :raises errors.ConfigError: something else is in its place
    :raises OSError: it cannot be made
    """
    path = folder / NAME
    remove(folder)
    with contextlib.ExitStack() as undo:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        undo.callback(opened.close)
        os.fchmod(opened.fileno(), private_files.PRIVATE)
        with _short(folder) as name:
            opened.bind(name)
        path.chmod(private_files.PRIVATE)
        opened.listen(_BACKLOG)
        undo.pop_all()
        return opened


def connected(folder: pathlib.Path, patience: float) -> socket.socket:
    """Return a connection to the daemon that listens in a state directory.

    :param patience: seconds until an attempt is given up
    :raises OSError: there is no such socket, or no daemon behind it
    """
    with contextlib.ExitStack() as undo:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        undo.callback(opened.close)
        opened.settimeout(patience)
        with _short(folder) as name:
            opened.connect(name)
        undo.pop_all()
        return opened


def remove(folder: pathlib.Path) -> None:
    """Remove the socket of a daemon that ended, if there is one.

    :raises errors.ConfigError: it is not a socket
    :raises OSError: it cannot be removed
    """
    path = folder / NAME
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise errors.ConfigError('it is not a socket: remove it')
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _short(folder: pathlib.Path) -> Iterator[str]:
    """Yield a path of the socket that the kernel takes."""
    path = folder / NAME
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    opened = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f'/proc/self/fd/{opened}/{NAME}'
    finally:
        os.close(opened)
