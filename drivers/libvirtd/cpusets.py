# SPDX-License-Identifier: Apache-2.0
"""Lists of processors as text, for example ``2-15,^8,24``.

Pure: no I/O, configuration, logging or clock. nova's options, libvirt's XML of
a guest and the kernel's files in /sys have such lists.
"""

import re
from collections.abc import Collection

from compute_agent import errors

# Far above any host; a typing error must not fill the memory.
_HIGHEST = 2**20
_RANGE = re.compile(r'(\d{1,8})(?:\s*-\s*(\d{1,8}))?', re.ASCII)


def parse(text: str | None, option: str) -> frozenset[int] | None:
    """Return the processors that an option names, None if it is not set.

    :param text: such as ``2-15,^8,24``
    :raises errors.ConfigError: the text is no list of processors, or an empty
        one
    """
    if not text or not text.strip():
        return None
    named, excluded = set[int](), set[int]()
    for part in filter(None, (part.strip() for part in text.split(','))):
        target = excluded if part.startswith('^') else named
        numbers = _range(part.removeprefix('^').strip())
        if numbers is None:
            raise errors.ConfigError(
                f'{option} has {part[:40]!r}, which names no processors: '
                'write a list such as 2-15,^8,24'
            )
        target.update(numbers)
    if not named - excluded:
        raise errors.ConfigError(
            f'{option} names no processor: remove it, or write a list such as '
            '2-15,^8,24'
        )
    return frozenset(named - excluded)


def from_kernel(text: str | None, path: str) -> frozenset[int]:
    """Return the processors in a list of the kernel such as ``0-3,5``.

    :raises errors.DriverError: the text is no such list
    """
    if text is None:
        raise errors.DriverError(f'{path} cannot be read')
    ranges = [_range(part) for part in text.strip().split(',')]
    if None in ranges:
        raise errors.DriverError(
            f'{path} contains {text.strip()[:80]!r}, which is not a list of '
            'processors'
        )
    return frozenset(n for one in ranges if one is not None for n in one)


def _range(text: str) -> range | None:
    match = _RANGE.fullmatch(text)
    first, last = match.groups() if match else ('1', '0')
    numbers = range(int(first), int(last or first) + 1)
    return numbers if numbers and numbers[-1] < _HIGHEST else None


def listed(numbers: Collection[int]) -> str:
    """Return the numbers as the kernel lists them, for example ``0-3,5``."""
    parts: list[str] = []
    ordered = sorted(numbers)
    start = 0
    for i, number in enumerate(ordered):
        if i + 1 == len(ordered) or ordered[i + 1] != number + 1:
            first = ordered[start]
            parts.append(
                str(number) if first == number else f'{first}-{number}'
            )
            start = i + 1
    return ','.join(parts)
