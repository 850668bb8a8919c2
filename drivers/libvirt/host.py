# SPDX-License-Identifier: Apache-2.0
"""Reads files of one host; the only module here that knows where they are.

I/O: every path is taken below a root, so that a test's folder can stand for a
host. What cannot be read is None, and what that means is decided by those who
asked (``findings.py``, ``compute_agent/tree/inventory.py``).
"""

import os
import pathlib
import socket

from compute_agent import errors

LOCALHOST = 'localhost'
ARCH = '/proc/sys/kernel/arch'
BOOT_ID = '/proc/sys/kernel/random/boot_id'


def canonical_name() -> str:
    """Return this host's name as libvirt tells it: with its domain, if any.

    A short name is looked up; what cannot be resolved, or only to the local
    host, stays short.
    """
    name = socket.gethostname()
    if '.' in name or name.startswith(LOCALHOST):
        return name
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_CANONNAME)
    except OSError:
        return name
    canonical = found[0][3]
    return name if canonical.startswith(LOCALHOST) else canonical or name


class HostFiles:
    """The files of the host whose root folder this is.

    :param machine: what to say where the kernel does not (before Linux 6.1)
    """

    def __init__(
        self, root: pathlib.Path | str = '/', machine: str | None = None
    ) -> None:
        self._root = pathlib.Path(root).absolute()
        self._machine = machine or os.uname().machine

    def text(self, path: str) -> str | None:
        """Return what this file says, None if it cannot be read."""
        try:
            return self._below(path).read_text('utf-8', 'replace')
        except OSError:
            return None

    def word(self, path: str) -> str | None:
        """Return what a file of one line says, None if it cannot be read."""
        text = self.text(path)
        return None if text is None else text.strip()

    def machine(self) -> str:
        """Return the kernel's name for this architecture.

        The file is asked first: ``uname`` names the architecture that this
        process is shown, which ``setarch`` changes.
        """
        return self.word(ARCH) or self._machine

    def file_system_bytes(self, path: str) -> int:
        """Return the size of the file system this path is on, or will be on.

        :raises DriverError: it cannot be told
        """
        return self._size(self._below(path))

    def _size(self, here: pathlib.Path) -> int:
        try:
            found = os.statvfs(here)
        except FileNotFoundError:
            return self._size(here.parent)
        except OSError as exc:
            raise errors.DriverError(
                f'the size of the file system at {here} cannot be read: '
                f'{exc.strerror}'
            ) from exc
        return found.f_blocks * found.f_frsize

    def _below(self, path: str) -> pathlib.Path:
        return self._root / path.lstrip('/')
