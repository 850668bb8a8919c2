# SPDX-License-Identifier: Apache-2.0
"""The check of each file that is read: who can change it, and its size.

The agent's state, the provider-config files, rules and local facts decide what
it writes to placement, so only root and the agent's user may be able to change
them, or to put files into their folders. A file that a person names may be
another user's, and a link; one of the configuration is nevertheless refused if
everybody may write to it. A mount that is read-only, as Kubernetes makes of a
ConfigMap, has modes and links that mean nothing: nobody can change them.
``read`` reads a file of any kind; it waits for no
pipe, and no device is read without end. ``private_files.py``, the
readers of files and the drivers call this.
"""

import contextlib
import errno
import os
import pathlib
import pwd
import stat

#: Flags that open a file, but no symbolic link, and wait for no other program.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_ROOT = 0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def foreign_owner(found: os.stat_result, *, or_root: bool = True) -> str:
    """Return the owner, as ``user NAME``, if it is another user; else empty.

    :param or_root: root may own it as well as the agent's user
    """
    trusted = {os.geteuid(), _ROOT} if or_root else {os.geteuid()}
    return '' if found.st_uid in trusted else user(found.st_uid)


def others_may_write(found: os.stat_result) -> bool:
    """Return True if a file's group or everybody may write to it."""
    return bool(found.st_mode & _OTHERS_WRITE)


def distrust(found: os.stat_result, path: str | pathlib.Path) -> str:
    """Return why a file or a folder is not trusted; empty if it is."""
    owner = foreign_owner(found)
    if owner:
        return f'it belongs to {owner}; run "chown root {path}"'
    if others_may_write(found) and not _is_read_only(path):
        return (
            'users other than its owner may write to it; run "chmod go-w '
            f'{path}"'
        )
    return ''


def distrust_way(path: str | pathlib.Path) -> str:
    """Return why a folder on the way to a file is not trusted; empty if all are.

    Who may write to a folder can put another file, or a link, in the place of
    what is there. In a folder with the sticky bit only the owner of what is
    there can. The folders of links, and those to which they lead, count too.

    :raises OSError: a folder cannot be looked at
    """
    pending, looked_at = [pathlib.Path(path).absolute()], set[pathlib.Path]()
    while pending:
        place = pending.pop()
        folder = place.parent
        if place in looked_at or place == folder:
            continue
        looked_at.add(place)
        entry, found = place.lstat(), folder.stat()
        if owner := foreign_owner(found):
            return (
                f'{owner} owns the folder {folder.resolve()} and can replace '
                'what is there; move it to a folder of root'
            )
        is_sticky = found.st_mode & stat.S_ISVTX and not foreign_owner(entry)
        if distrust(found, folder) and not is_sticky:
            return (
                f'others can replace what is in the folder {folder.resolve()}; '
                f'run "chmod go-w {folder.resolve()}"'
            )
        pending.append(folder)
        if stat.S_ISLNK(entry.st_mode):
            pending.append(folder / place.readlink())
    return ''


def everybody_may_write(
    found: os.stat_result, path: str | pathlib.Path
) -> str:
    """Return a line if everybody may write to a file or a folder, else empty.

    nova.conf may belong to nova's user, and a file of a checkout to a group.
    """
    if found.st_mode & stat.S_IWOTH and not _is_read_only(path):
        return f'everybody may write to it; run "chmod go-w {path}"'
    return ''


def _is_read_only(path: str | pathlib.Path) -> bool:
    """Return True if the mount of this path takes no writes."""
    with contextlib.suppress(OSError):
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    return False


def open_file(path: str, *, named: bool = False) -> int:
    """Return a descriptor of a file; it is not checked yet.

    No link is followed, unless it leads to a file below its own folder in a
    mount that is read-only: each file of a ConfigMap is such a link.

    :param named: as for ``read``
    :raises OSError: it cannot be opened, or is a link
    """
    flags = READ_FLAGS & ~os.O_NOFOLLOW if named else READ_FLAGS
    try:
        return os.open(path, flags)
    except OSError as exc:
        if exc.errno != errno.ELOOP:
            raise
        folder = pathlib.Path(path).parent.resolve()
        target = pathlib.Path(os.path.realpath(path))
        if folder not in target.parents or not _is_read_only(folder):
            raise
        return os.open(target, flags)


class Refused(OSError):
    """A file that is not read; ``strerror`` says why, and what to do."""

    strerror: str


def read(path: str, largest: int, *, named: bool = False) -> bytes:
    """Return the content of a file.

    :param largest: the most bytes that it may have
    :param named: a person named the file for one command, so its owner, its
        mode and links do not matter
    :raises Refused: it is not trusted, too large, or no regular file
    :raises OSError: it cannot be read
    """
    try:
        descriptor = open_file(path, named=named)
    except OSError as exc:
        if exc.errno == errno.ELOOP and not named:
            raise Refused(exc.errno, why_unread(exc)) from exc
        raise
    with open(descriptor, 'rb') as file:  # noqa: PTH123 (a descriptor)
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        problem = distrust_file(found, path, largest, named=named)
        if problem:
            raise Refused(errno.EPERM, problem)
        content = file.read(largest + 1)
    if len(content) > largest:
        raise Refused(errno.EFBIG, _too_large(largest, named=named))
    return content


def distrust_file(
    found: os.stat_result, path: str, largest: int, *, named: bool = False
) -> str:
    """Return why an open file must not be read; empty if it may be read.

    The parameters are those of ``read``.
    """
    if not stat.S_ISREG(found.st_mode):
        return 'it is not a regular file'
    if found.st_size > largest:
        return _too_large(largest, named=named)
    return '' if named else distrust(found, path)


def _too_large(largest: int, *, named: bool) -> str:
    advice = 'give another one' if named else 'divide it'
    return f'it has more than {largest} bytes; {advice}'


def why_unread(exc: OSError) -> str:
    """Return why a file could not be opened with ``READ_FLAGS``, or read."""
    if exc.errno == errno.ELOOP:
        return 'it is a symbolic link; put the file itself there'
    return exc.strerror or type(exc).__name__


def user(uid: int) -> str:
    """Return ``user NAME``, or the number of a user without a name."""
    try:
        return f'user {pwd.getpwuid(uid).pw_name}'
    except KeyError:
        return f'user {uid}'
