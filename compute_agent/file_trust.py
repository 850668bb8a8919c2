# SPDX-License-Identifier: Apache-2.0
"""The check that only root and the agent's user can change a file or a folder.

The agent's state, rules and local facts decide what it writes to placement, so
nobody else may be able to change their files, or to put files into their
folders. Pure, except that it looks up names of users. ``private_files.py`` and the drivers
call this.
"""

import errno
import os
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
    """Return True if its group or everybody may write to it."""
    return bool(found.st_mode & _OTHERS_WRITE)


def distrust(found: os.stat_result) -> str:
    """Return why a file or a folder is not trusted; empty if it is."""
    owner = foreign_owner(found)
    if owner:
        return f'it belongs to {owner}; chown it to root'
    if others_may_write(found):
        return 'users other than its owner may write to it; chmod go-w'
    return ''


def distrust_file(found: os.stat_result, largest: int) -> str:
    """Return why an open file is not read; empty if it may be.

    :param largest: the most bytes that it may have
    """
    if not stat.S_ISREG(found.st_mode):
        return 'it is not a regular file'
    if found.st_size > largest:
        return f'it has more than {largest} bytes; divide it'
    return distrust(found)


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
