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


def devices(run: Runner, emulator: str) -> frozenset[str]:
    """Return the names of the devices.

    :raises errors.DriverError: they cannot be read
    """
    if not emulator:
        raise errors.DriverError('libvirt names no emulator')
    found = frozenset(_NAME.findall(run([emulator, '-device', 'help'])))
    if not found:
        raise errors.DriverError(f'{emulator} lists no devices')
    return found
