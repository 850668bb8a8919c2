# SPDX-License-Identifier: Apache-2.0
"""The meaning of the short texts in /proc and /sys.

Pure: no I/O, configuration, logging or clock. Every function raises ValueError
for a text that it does not know: the fact is then unknown.
"""

import re

_HEX = re.compile(r'(?:0x)?([0-9a-f]{1,16})', re.ASCII | re.IGNORECASE)
_CHOSEN = re.compile(r'\[([^\[\]]+)\]')
_RANGE = re.compile(r'(\d{1,7})(?:-(\d{1,7}))?', re.ASCII)
_KIB = re.compile(r'(\d{1,18}) kB', re.ASCII)
_INTEGER = re.compile(r'-?\d{1,19}', re.ASCII)
_NUMBER = re.compile(r'\d{1,15}(?:\.\d{1,15})?(?![^ ])', re.ASCII)
_SIZE = re.compile(r'(\d{1,15})([KMG])', re.ASCII)
_UNITS = {'K': 2**10, 'M': 2**20, 'G': 2**30}
_RELEASE = re.compile(r'(\d+)\.(\d+)(?:\.(\d+))?', re.ASCII)
_SWITCHES = {'y': True, '1': True, 'n': False, '0': False}
_HIGHEST = 2**20  # a processor or node; a longer list must not fill the memory


def line(text: str) -> str:
    """Return the text with single spaces."""
    return ' '.join(text.split())


def words(text: str) -> tuple[str, ...]:
    """Return the words of the text."""
    return tuple(text.split())


def integer(text: str) -> int:
    """Return a decimal number, of at most 64 bits."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} is no number')
    return int(text)


def number(text: str) -> float:
    """Return the number with which a text begins: 16.0 for ``16.0 GT/s``."""
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} does not begin with a number')
    return float(match[0])


def hexadecimal(text: str) -> str:
    """Return the digits of a hexadecimal number, in lower case: 8086."""
    match = _HEX.fullmatch(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} is not hexadecimal')
    return match[1].lower()


def switch(text: str) -> bool:
    """Return True for Y or 1, False for N or 0."""
    try:
        return _SWITCHES[text.lower()]
    except KeyError:
        raise ValueError(f'{text[:40]!r} is neither Y nor N') from None


def chosen(text: str) -> str:
    """Return the word in brackets: ``always [madvise] never``."""
    match = _CHOSEN.search(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} has no word in brackets')
    return match[1]


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as ``0-3,8``; it may be empty."""
    found: set[int] = set()
    for part in filter(None, text.strip().split(',')):
        match = _RANGE.fullmatch(part)
        last = int(match[2] or match[1]) if match else _HIGHEST
        if match is None or last >= _HIGHEST:
            raise ValueError(f'{part[:40]!r} is no range of numbers')
        found.update(range(int(match[1]), last + 1))
    return tuple(sorted(found))


def kibibytes(text: str) -> int:
    """Return the bytes of ``16 kB``."""
    match = _KIB.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text[:40]!r} is no number of kB')
    return int(match[1]) * 2**10


def size(text: str) -> int:
    """Return the bytes of ``32K``."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} is no size')
    return int(match[1]) * _UNITS[match[2]]


def release(text: str) -> tuple[int, int, int]:
    """Return the numbers at the beginning of a release."""
    match = _RELEASE.match(text)
    if match is None:
        raise ValueError(f'{text[:40]!r} is no release')
    return int(match[1]), int(match[2]), int(match[3] or 0)


def table(text: str, separator: str = ':') -> dict[str, str]:
    """Return key → value of lines such as ``MemTotal: 16 kB``."""
    found: dict[str, str] = {}
    for one in text.splitlines():
        key, sign, value = one.partition(separator)
        if sign:
            found.setdefault(key.strip(), value.strip())
    return found
