# SPDX-License-Identifier: Apache-2.0
"""The lock of a state directory, so that only one process writes to it.

The lock file has the pid of the process, and a line about the last daemon. The
kernel releases the lock when the process ends, however it ends, so there is no
stale lock to clean up. Commands that only read do not take it.
"""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator

from ... import error_text, errors, private_files

FILE_NAME = 'lock'
_LONGEST = 500  # bytes of the file that are read


@contextlib.contextmanager
def hold(directory: pathlib.Path, daemon: str = '') -> Iterator[None]:
    """Hold the directory's lock.

    :param daemon: a line about this process if it is a daemon; the line about
        the last one stays until the next one starts
    :raises errors.StateInUse: another process holds it
    :raises errors.ConfigError: the lock file cannot be used or is not this
        user's
    """
    path = directory / FILE_NAME
    with private_files.explained(path):
        private_files.make_directory(directory)
        handle = private_files.open_file(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            written = os.pread(handle, 20, 0).decode(errors='replace').split()
            pid = written[0] if written else 'unknown'
            raise errors.StateInUse(
                f'process {pid} uses the state directory {directory}: stop '
                'that process, or give this one another [DEFAULT] state_path'
            ) from exc
        about = daemon or _about_daemon(os.pread(handle, _LONGEST, 0))
        os.ftruncate(handle, 0)
        lines = [str(os.getpid()), *filter(None, [about])]
        os.pwrite(handle, ''.join(f'{line}\n' for line in lines).encode(), 0)
        yield
    finally:
        os.close(handle)


def last_daemon(directory: pathlib.Path) -> str:
    """Return the line about the daemon that last used a directory, or empty.

    A file that cannot be read tells of none.
    """
    try:
        with (directory / FILE_NAME).open('rb') as file:
            return error_text.as_line(_about_daemon(file.read(_LONGEST)))
    except OSError:
        return ''


def _about_daemon(written: bytes) -> str:
    lines = written.decode(errors='replace').split('\n')
    return lines[1] if len(lines) > 1 else ''
