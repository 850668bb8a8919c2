# SPDX-License-Identifier: Apache-2.0
"""Create, check and open files that only this process's user may change.

The agent trusts its state directory, so nobody else may be able to put a file
or a link there. A directory or a file of another user is refused, and so is a
directory that others may write to (``file_trust.py``). No file is opened
through a link, and its mode does not depend on the umask. ``state/``,
``identity/`` and ``dev/`` call this module.
"""

import contextlib
import errno
import os
import pathlib
import stat
from collections.abc import Iterator

from . import error_text, errors, file_trust

PRIVATE = 0o600
READABLE = 0o644
_DIRECTORY = 0o755


def make_directory(path: pathlib.Path) -> None:
    """Create a directory if it is missing; check that only its owner writes.

    :raises errors.ConfigError: it belongs to another user, or others may
        write to it
    :raises OSError: it cannot be created
    """
    for missing in reversed([p for p in (path, *path.parents) if not _is(p)]):
        missing.mkdir(mode=0o700, exist_ok=True)
        missing.chmod(_DIRECTORY)
    check_directory(path)


def check_directory(path: pathlib.Path) -> None:
    """Check that nobody else can put files into a directory.

    :raises errors.ConfigError: another user can
    :raises OSError: it cannot be read
    """
    found = path.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    owner = file_trust.foreign_owner(found)
    if owner:
        or_root = ' or as root' if os.geteuid() else ''
        raise errors.ConfigError(
            f'[DEFAULT] state_path: {path} belongs to {owner}, '
            f'and this process runs as {_this_user()}: run it as {owner}'
            f'{or_root}'
        )
    if file_trust.others_may_write(found):
        raise errors.ConfigError(
            f'[DEFAULT] state_path: users other than its owner may write to '
            f'{path}: run "chmod go-w {path}"'
        )


def open_file(
    path: pathlib.Path, mode: int = PRIVATE, *, new: bool = False
) -> int:
    """Open a file for reading and writing; it is created if it is missing.

    The file gets this mode. It is never truncated.

    :param new: fail if the file exists
    :raises errors.ConfigError: it is a link, or belongs to another user
    :raises OSError: it cannot be opened
    """
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    check_file(path)
    # Without O_NONBLOCK, a named pipe would block the process.
    flags |= os.O_NONBLOCK | (os.O_EXCL if new else 0)
    file = os.open(path, flags, mode)
    try:
        _check_owner(path, os.fstat(file))
        if stat.S_IMODE(os.fstat(file).st_mode) != mode:
            os.fchmod(file, mode)
    except BaseException:
        os.close(file)
        raise
    return file


def write_new(path: pathlib.Path, text: str, mode: int = READABLE) -> None:
    """Write a file that must not exist yet.

    :raises OSError: it exists, or cannot be written
    """
    with open(open_file(path, mode, new=True), 'w', encoding='utf-8') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def explained(
    path: pathlib.Path, advice: str = 'give a directory this user may write'
) -> Iterator[None]:
    """Turn an OSError about a file of the agent's state into one line.

    :raises errors.ConfigError: in place of the OSError
    """
    try:
        yield
    except OSError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] state_path: {path} cannot be used: '
            f'{exc.strerror or error_text.one_line(exc)}; {advice}'
        ) from exc


def exists(path: pathlib.Path) -> bool:
    """Return True if the path exists.

    Since Python 3.14, ``Path.exists`` returns False also if this user may not
    search the directory.

    :raises OSError: the directory cannot be searched
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def check_file(path: pathlib.Path) -> None:
    """Check that a file, if it exists, is a regular file of this user.

    :raises errors.ConfigError: the path is not such a file
    """
    try:
        found = path.lstat()
    except OSError:
        return
    check_not_link(path)
    _check_owner(path, found)


def check_not_link(path: pathlib.Path) -> None:
    """Check that a file of the agent's state is no link, and no directory.

    :raises errors.ConfigError: the path is a link or a directory
    :raises OSError: the directory cannot be searched
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise errors.ConfigError(
            f'{path} is a directory, not a regular file: move it away'
        )
    if stat.S_ISLNK(mode):
        raise errors.ConfigError(
            f'{path} is a link, and the agent opens no file of its state '
            'through a link: remove it'
        )


def check_link(path: pathlib.Path) -> None:
    """Check that a file or a link, if it exists, belongs to this user or root.

    :raises errors.ConfigError: it belongs to another user
    """
    try:
        found = path.lstat()
    except OSError:
        return
    _refuse_owner(path, file_trust.foreign_owner(found))


def _check_owner(path: pathlib.Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise errors.ConfigError(f'{path} is not a regular file: remove it')
    _refuse_owner(path, file_trust.foreign_owner(found, or_root=False))


def _refuse_owner(path: pathlib.Path, owner: str) -> None:
    """Refuse a file of another user; ``owner`` is empty for a trusted one."""
    if owner:
        raise errors.ConfigError(
            f'{path} belongs to {owner}, and this process runs '
            f"as {_this_user()}: run it as the daemon's user, or give "
            'the file to this one (chown)'
        )


def _is(path: pathlib.Path) -> bool:
    """Return True if there is a directory, a file or a link."""
    return os.path.lexists(path)


def _this_user() -> str:
    return file_trust.user(os.geteuid())
