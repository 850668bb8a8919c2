# SPDX-License-Identifier: Apache-2.0
"""The words for a part of the agent that is not installed.

Pure. No index has the agent yet, so no message can name a package to install. On
the day of publication, the words change here, and in ``docs/install.md``.
"""


def advice(*extras: str) -> str:
    """Return what to do to get these extras, as the end of a message."""
    named = ','.join(extras)
    return f'install the agent with [{named}] (docs/install.md, With pip)'
