# SPDX-License-Identifier: Apache-2.0
"""The wall clock of one machine, which a test sets while its agent runs.

libfaketime changes what the agent's process reads; the clocks that nobody can
set, such as the time since boot, stay as they are. ``agent.py`` calls
``prepare`` before anything else.
"""

import os
import pathlib
import select
import time

MISSING = (
    'libfaketime is needed; on Debian, "apt-get install $(make '
    'database-packages)" installs it'
)
_FILE = 'FAKETIME_TIMESTAMP_FILE'


class Clock:
    """A clock that is ahead of the real one, or behind it.

    :param file: where it is written how much
    """

    def __init__(self, file: pathlib.Path, ahead: int) -> None:
        self._file = file
        self.set(ahead)

    def set(self, ahead: int) -> None:
        """Set it.

        :param ahead: seconds; negative if it is behind
        """
        fresh = self._file.with_suffix('.new')
        fresh.write_text(f'{ahead:+d}\n')
        fresh.replace(self._file)

    def command(self) -> list[str]:
        """Return the words before the command of a process that has it."""
        return [
            'env',
            f'LD_PRELOAD={library()}',
            f'{_FILE}={self._file}',
            'FAKETIME_NO_CACHE=1',
            'FAKETIME_DONT_FAKE_MONOTONIC=1',
        ]


def library() -> pathlib.Path | None:
    """Return libfaketime for programs with threads; None without it."""
    found = pathlib.Path('/usr/lib').glob('*/faketime/libfaketimeMT.so.1')
    return next(found, None)


def prepare() -> None:
    """Let ``time.sleep`` work in a process with such a clock.

    libfaketime refuses the system call that Python makes for it.
    """
    if _FILE in os.environ:
        time.sleep = _sleep


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)
