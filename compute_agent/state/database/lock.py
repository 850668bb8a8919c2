# SPDX-License-Identifier: Apache-2.0
"""The lock of a state directory, so that only one process writes to it.

The lock file has the pid of the process. The kernel releases the lock when the
process ends, however it ends, so there is no stale lock to clean up. Commands
that only read do not take it.
"""

import contextlib
import fcntl
import os
import pathlib
from collections.abc import Iterator

from ... import errors, private_files

FILE_NAME = 'lock'


@contextlib.contextmanager
def hold(directory: pathlib.Path) -> Iterator[None]:
    """Hold the directory's lock.

    :raises errors.StateInUse: another process holds it
    :raises errors.ConfigError: the lock file cannot be written or is not this
        user's
    """
    path = directory / FILE_NAME
    try:
        private_files.make_directory(directory)
        handle = private_files.open_file(path)
    except OSError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] state_path: {path} cannot be written: '
            f'{exc.strerror}; give a directory this user may write'
        ) from exc
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
        os.ftruncate(handle, 0)
        os.pwrite(handle, f'{os.getpid()}\n'.encode(), 0)
        yield
    finally:
        os.close(handle)
