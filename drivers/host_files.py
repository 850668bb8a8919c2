# SPDX-License-Identifier: Apache-2.0
"""Reads the files of one host.

It does I/O. Every path is below a root folder, so that a test's folder can
stand for a host. A file that cannot be read gives None; the caller decides
what this means. The drivers of hosts call this.
"""

import os
import pathlib

from compute_agent import errors

_BYTES_PER_BLOCK = 512  # of st_blocks, whatever the file system
ARCH = '/proc/sys/kernel/arch'
BOOT_ID = '/proc/sys/kernel/random/boot_id'


class HostFiles:
    """The files of a host below its root folder.

    :param machine: the architecture, if the kernel has no file for it (before
        Linux 6.1)
    """

    def __init__(
        self, root: pathlib.Path | str = '/', machine: str | None = None
    ) -> None:
        self._root = pathlib.Path(root).absolute()
        self._prefix = str(self._root).rstrip('/')
        self._machine = machine or os.uname().machine

    def read(self, path: str) -> str:
        """Return the content of a file.

        :raises OSError: the path cannot be read
        """
        # A host has thousands of files in /sys; a path object for each would
        # double the time.
        with open(f'{self._prefix}/{path}', 'rb', buffering=0) as file:  # noqa: PTH123
            return file.read().decode('utf-8', 'replace')

    def listed(self, path: str) -> list[str]:
        """Return the names in a folder.

        :raises OSError: the path cannot be read
        """
        return sorted(os.listdir(f'{self._prefix}/{path}'))  # noqa: PTH208

    def link(self, path: str) -> str:
        """Return the last name in the target of a symbolic link.

        :raises OSError: the path is no symbolic link
        """
        target = os.readlink(f'{self._prefix}/{path}')  # noqa: PTH115
        return target.rstrip('/').rpartition('/')[2]

    def exists(self, path: str) -> bool:
        """Return True if there is a file or folder.

        :raises OSError: this cannot be told
        """
        try:
            os.stat(f'{self._prefix}/{path}')  # noqa: PTH116
        except FileNotFoundError:
            return False
        return True

    def text(self, path: str) -> str | None:
        """Return the content of a file, None if it cannot be read."""
        try:
            return self.read(path)
        except OSError:
            return None

    def word(self, path: str) -> str | None:
        """Return the content of a one-line file, None if it cannot be read."""
        text = self.text(path)
        return None if text is None else text.strip()

    def octets(self, path: str, count: int) -> bytes | None:
        """Return the first octets of a file, None if it cannot be read.

        No more octets are read, because the kernel asks the PCI device for
        each octet of its configuration.
        """
        try:
            with self._below(path).open('rb', buffering=0) as file:
                return file.read(count)
        except OSError:
            return None

    def names(self, path: str) -> list[str] | None:
        """Return the names in a folder, None if it cannot be read."""
        try:
            return self.listed(path)
        except OSError:
            return None

    def changed(self, path: str) -> int | None:
        """Return when a file or folder was changed; None if it is missing."""
        try:
            return self._below(path).stat().st_mtime_ns
        except OSError:
            return None

    def real_path(self, path: str) -> str:
        """Return the path without symbolic links; it may not exist.

        A path with a loop of links is returned as it is.
        """
        try:
            real = self._below(path).resolve()
        except (OSError, RuntimeError):  # RuntimeError: before Python 3.13
            return path
        root = self._root.resolve()
        return f'/{real.relative_to(root)}' if root in real.parents else path

    def machine(self) -> str:
        """Return the kernel's name for this architecture.

        The file comes first, because ``uname`` names the architecture that
        this process sees, which ``setarch`` changes.
        """
        return self.word(ARCH) or self._machine

    def file_system_bytes(self, path: str) -> int:
        """Return the size of the path's file system; the path may not exist.

        :raises errors.DriverError: the path cannot be read
        """
        return self._size(self._below(path))

    def used_bytes(self, folder: str, beside: str) -> int:
        """Return what the files of a folder take from a file system.

        The result is 0 if the folder does not exist, or is not on the file
        system of ``beside``. Folders in it do not count.

        :raises errors.DriverError: the path cannot be read
        """
        here = self._below(folder)
        try:
            if here.stat().st_dev != self._below(beside).stat().st_dev:
                return 0
            return sum(_used(entry) for entry in os.scandir(here))
        except FileNotFoundError:
            return 0
        except OSError as exc:
            raise errors.DriverError(
                f'the files in {here} cannot be counted: {exc.strerror}'
            ) from exc

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


def _used(entry: os.DirEntry[str]) -> int:
    """Return the bytes that a regular file takes, 0 if it is gone by now."""
    try:
        if not entry.is_file():
            return 0
        return entry.stat().st_blocks * _BYTES_PER_BLOCK
    except FileNotFoundError:
        return 0
