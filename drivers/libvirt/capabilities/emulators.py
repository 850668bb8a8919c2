# SPDX-License-Identifier: Apache-2.0
"""The devices that an emulator knows, from its own list.

It does I/O: it runs ``EMULATOR -device help``, which starts no guest.
``guests.py`` calls this; it keeps the answer.
"""

import re
from collections.abc import Callable, Sequence

from compute_agent import errors

Runner = Callable[[Sequence[str]], str]

_NAME = re.compile(r'^name "([^"]+)"', re.MULTILINE)


def devices(run: Runner, emulator: str) -> frozenset[str] | None:
    """Return the names of the devices; None if they cannot be read."""
    if not emulator:
        return None
    try:
        text = run([emulator, '-device', 'help'])
    except errors.DriverError:
        return None
    return frozenset(_NAME.findall(text)) or None
