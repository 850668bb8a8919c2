# SPDX-License-Identifier: Apache-2.0
"""What the text of /proc/cpuinfo says of all processors together.

Pure: no I/O, configuration, logging or clock. A text that is cut off, or in
which a processor lacks its line of flags, gives no words at all: a part of the
truth would read as flags that went away. ``driver.py`` calls this.
"""

import dataclasses
import functools
from collections.abc import Mapping

PATH = '/proc/cpuinfo'

# Where each family's words, maker and model stand. ppc64le has no flags: its
# one word is the processor's name.
_WORDS: Mapping[str, str] = {
    'aarch64': 'Features',
    'ppc64le': 'cpu',
    'x86': 'flags',
}
_VENDOR = ('vendor_id', 'CPU implementer')
_MODEL = ('model name', 'cpu')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Processors:
    """The words that all processors have, and who made them.

    :ivar words: None if the kernel gives no complete answer; then ``reason``
    :ivar partial: words that some processors have and others lack
    """

    words: frozenset[str] | None = None
    partial: frozenset[str] = frozenset()
    vendor: str = ''
    model: str = ''
    microcode: str = ''
    reason: str = ''


def parse(text: str | None, family: str | None) -> Processors:
    """Return what all processors of this text have in common.

    :param text: None if the file could not be read
    :param family: a key of ``cpu_traits.ROWS``, or None: no words are sought
    """
    fields = _fields(text or '')
    seen = Processors(
        vendor=_first(fields, *_VENDOR),
        model=_first(fields, *_MODEL),
        microcode=_first(fields, 'microcode'),
    )
    if text is None:
        return dataclasses.replace(seen, reason=f'{PATH} cannot be read')
    if family is None:
        reason = f'no table for what {PATH} says on this machine'
        return dataclasses.replace(seen, reason=reason)
    lines = fields.get(_WORDS[family], [])
    reason = _flaw(text, lines, len(fields.get('processor', [])), family)
    if reason:
        return dataclasses.replace(seen, reason=reason)
    # Hundreds of processors mostly share one line: split each line once.
    sets = [_split(line, family) for line in set(lines)]
    words = functools.reduce(frozenset.intersection, sets)
    union = functools.reduce(frozenset.union, sets)
    return dataclasses.replace(seen, words=words, partial=union - words)


def _fields(text: str) -> dict[str, list[str]]:
    """Return each field's values, in the order of the processors."""
    fields: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(':')
        if colon:
            fields.setdefault(name.strip(), []).append(value.strip())
    return fields


def _first(fields: Mapping[str, list[str]], *names: str) -> str:
    return next((fields[n][0] for n in names if n in fields), '')


def _flaw(text: str, lines: list[str], count: int, family: str) -> str:
    """Return what makes the answer incomplete; empty if nothing does."""
    if not text.endswith('\n'):
        return f'{PATH} is cut off'
    if not lines:
        return f'{PATH} has no line "{_WORDS[family]}"'
    if len(lines) != count or not all(lines):
        return f'{PATH} has no "{_WORDS[family]}" for some processors'
    return ''


def _split(line: str, family: str) -> frozenset[str]:
    if family == 'ppc64le':
        # As in: POWER9 (architected), altivec supported
        return frozenset(line.replace(',', ' ').split()[:1])
    return frozenset(line.split())
