# SPDX-License-Identifier: Apache-2.0
"""Files and folders that only root and the agent's user can change.

Rules and local facts decide what the agent writes, so nobody else may be able
to change their files, or to put files into their folders. Pure but for the
names of users. ``rules/files/`` and ``facts/local.py`` call this.
"""

import os
import pwd
import stat

_ROOT = 0
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def distrust(found: os.stat_result) -> str:
    """Return why a file or a folder is not trusted; empty if it is."""
    if found.st_uid not in {os.geteuid(), _ROOT}:
        return f'it belongs to {_user(found.st_uid)}; chown it to root'
    if found.st_mode & _OTHERS_WRITE:
        return 'users other than its owner may write to it; chmod go-w'
    return ''


def _user(uid: int) -> str:
    try:
        return f'user {pwd.getpwuid(uid).pw_name}'
    except KeyError:
        return f'user {uid}'
