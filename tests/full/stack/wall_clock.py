# SPDX-License-Identifier: Apache-2.0
"""A wall clock of a process's own, which steps when it is told.

``wall_clock.c`` is preloaded into the process. The monotonic clock, by which a
daemon waits, goes on as it is, as when an administrator or NTP steps the clock
of a real host.
"""

import pathlib
import subprocess
from collections.abc import Sequence

DAY = 86400.0
_SOURCE = pathlib.Path(__file__).with_name('wall_clock.c')


def compiled(folder: pathlib.Path) -> pathlib.Path:
    """Compile the library that is preloaded; return its path."""
    made = folder / 'wall_clock.so'
    command = ['gcc', '-O1', '-shared', '-fPIC', '-o', str(made)]
    subprocess.run([*command, str(_SOURCE), '-ldl'], check=True)
    return made


class Clock:
    """A wall clock, as a distance from this machine's.

    :param file: keeps the distance
    :param preloaded: the library
    :ivar offset: seconds that the clock is ahead
    """

    def __init__(self, file: pathlib.Path, preloaded: pathlib.Path) -> None:
        self._file = file
        self._library = preloaded
        self.offset = 0.0
        self._file.write_bytes(bytes(8))

    def step(self, seconds: float) -> None:
        """Move the clock on, or back, by so many seconds."""
        self.offset += seconds
        with self._file.open('r+b') as file:
            value = round(self.offset).to_bytes(8, 'little', signed=True)
            file.write(value)

    def environment(self) -> Sequence[str]:
        """Return the variables of a process that has this clock."""
        return (f'LD_PRELOAD={self._library}', f'WALL_CLOCK_FILE={self._file}')
