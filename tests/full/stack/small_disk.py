# SPDX-License-Identifier: Apache-2.0
"""A small file system in memory, which can be filled: the daemons' disk.

Only root can mount it. Others get a plain folder, which is never full.
"""

import contextlib
import pathlib
import subprocess
from collections.abc import Iterator

SIZE = '32m'
_PIECES = (1 << 20, 1 << 12, 1)  # bytes; the last ones take what is left


class SmallDisk:
    """A folder, which is a file system of its own if root made it.

    :ivar folder: its path
    :ivar is_mounted: True if it can be filled
    """

    def __init__(self, folder: pathlib.Path, *, is_mounted: bool) -> None:
        self.folder = folder
        self.is_mounted = is_mounted
        self._filler = folder / 'filler'

    def fill(self) -> None:
        """Leave no byte free."""
        with self._filler.open('wb', buffering=0) as filler:
            for size in _PIECES if self.is_mounted else ():
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(bytes(size))

    def free(self) -> None:
        """Give back the space that ``fill`` took."""
        self._filler.unlink(missing_ok=True)


@contextlib.contextmanager
def mounted(folder: pathlib.Path) -> Iterator[SmallDisk]:
    """Yield a small disk at a new folder; unmount it on exit."""
    folder.mkdir()
    words = ['mount', '-t', 'tmpfs', '-o', f'size={SIZE},mode=700', 'tmpfs']
    done = subprocess.run(
        [*words, str(folder)], check=False, capture_output=True
    )
    try:
        yield SmallDisk(folder, is_mounted=done.returncode == 0)
    finally:
        if done.returncode == 0:
            subprocess.run(['umount', '--lazy', str(folder)], check=True)
