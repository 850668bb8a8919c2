# SPDX-License-Identifier: Apache-2.0
"""The person who runs a command, for approvals and for the history."""

import os
import pwd


def name() -> str:
    """Return the name of this process's user, and the person behind sudo.

    LOGNAME and the like do not count: anybody may set them.
    """
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = f'user {os.getuid()}'
    sudo = os.environ.get('SUDO_USER')
    return f'{sudo} (as {user})' if sudo and sudo != user else user
