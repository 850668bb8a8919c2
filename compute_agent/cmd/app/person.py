# SPDX-License-Identifier: Apache-2.0
"""The person who runs a command, for approvals and for the history."""

import getpass
import os


def name() -> str:
    """Return the name of the person, as far as the system tells it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f'user {os.getuid()}'
    sudo = os.environ.get('SUDO_USER')
    return f'{sudo} (as {user})' if sudo and sudo != user else user
