# SPDX-License-Identifier: Apache-2.0
"""The lock of a state directory, so that only one process writes to it.

The lock file has the pid of the process, and a line about the last daemon. The
kernel releases the lock when the process ends, however it ends, so there is no
stale lock to clean up. Commands that only read do not take it. A command that
root runs acts as the user of the directory.
"""

import contextlib
import fcntl
import os
import pathlib
import pwd
from collections.abc import Iterator

from ... import error_text, errors, forks, private_files

FILE_NAME = 'lock'
_LONGEST = 500  # bytes of the file that are read
_PROC = pathlib.Path('/proc')


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
                'that process'
            ) from exc
        about = daemon or _about_daemon(os.pread(handle, _LONGEST, 0))
        os.ftruncate(handle, 0)
        lines = [str(os.getpid()), *filter(None, [about])]
        os.pwrite(handle, ''.join(f'{line}\n' for line in lines).encode(), 0)
        with forks.closed_in_child(handle):
            yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def hold_as_owner(directory: pathlib.Path) -> Iterator[None]:
    """Hold the directory's lock for a command, which root may run.

    :raises: the same errors as ``hold``
    """
    with as_owner(directory), hold(directory):
        yield


@contextlib.contextmanager
def as_owner(directory: pathlib.Path) -> Iterator[None]:
    """Have root act as the user of a state directory; others stay themselves.

    So root's commands see what the daemon sees, and leave no file there that
    the daemon may not use. A daemon itself never changes its user. A program
    that only root can read stays root's.
    """
    try:
        found = directory.stat()
    except OSError:  # the caller's own use of the file reports it
        found = None
    if os.geteuid() or found is None or not found.st_uid:
        yield
        return
    before = os.getegid(), os.getgroups()
    group, groups = _groups(directory, found)
    try:
        os.setgroups(groups)
        os.setegid(group)
        os.seteuid(found.st_uid)
        if not all(map(_is_readable, (os.__file__, __file__))):
            os.seteuid(0)
        yield
    finally:
        os.seteuid(0)
        os.setegid(before[0])
        os.setgroups(before[1])


def _is_readable(path: str) -> bool:
    return os.access(path, os.R_OK, effective_ids=True)


def is_anothers(directory: pathlib.Path) -> bool:
    """Return True if root acts as another user in a state directory."""
    try:
        return not os.geteuid() and bool(directory.stat().st_uid)
    except OSError:
        return False


def _groups(
    directory: pathlib.Path, found: os.stat_result
) -> tuple[int, list[int]]:
    """Return the group and all groups of the user, and of its daemon.

    The unit may give the daemon groups that the user does not have.
    """
    try:
        user = pwd.getpwuid(found.st_uid)
    except KeyError:
        return found.st_gid, [found.st_gid]
    own = os.getgrouplist(user.pw_name, user.pw_gid)
    daemons = _of_daemon(directory, found.st_uid)
    return user.pw_gid, sorted({*own, *daemons})


def _of_daemon(directory: pathlib.Path, uid: int) -> list[int]:
    """Return the groups of the process that holds the lock, if it is theirs."""
    try:
        process = _PROC / str(int(holder(directory)))
        if process.stat().st_uid != uid:
            return []
        lines = (process / 'status').read_text().splitlines()
    except (OSError, ValueError):
        return []
    (groups,) = (line for line in lines if line.startswith('Groups:'))
    return [int(word) for word in groups.split()[1:]]


def holder(directory: pathlib.Path) -> str:
    """Return the number of the process that held the lock last, or empty."""
    try:
        with (directory / FILE_NAME).open('rb') as file:
            return file.readline(_LONGEST).decode(errors='replace').strip()
    except OSError:
        return ''


def last_daemon(directory: pathlib.Path) -> str:
    """Return the line about the daemon that last used a directory, or empty.

    If the file cannot be read, no process is named.
    """
    try:
        with (directory / FILE_NAME).open('rb') as file:
            return error_text.as_line(_about_daemon(file.read(_LONGEST)))
    except OSError:
        return ''


def _about_daemon(written: bytes) -> str:
    lines = written.decode(errors='replace').split('\n')
    return lines[1] if len(lines) > 1 else ''
