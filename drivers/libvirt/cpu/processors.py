# SPDX-License-Identifier: Apache-2.0
"""The words that the text of /proc/cpuinfo shows for all processors.

Pure: no I/O, configuration, logging or clock. If the text is cut off, or a
processor lacks its line of flags, there are no words at all, because an
incomplete list would look as if flags had gone. ``reading/root_traits.py``
calls this.
"""

import dataclasses
import functools
from collections.abc import Mapping

PATH = '/proc/cpuinfo'

# The fields with each family's words, vendor and model. ppc64le has no flags;
# its only word is the processor's name.
_WORDS: Mapping[str, str] = {
    'aarch64': 'Features',
    'ppc64le': 'cpu',
    'x86': 'flags',
}
_VENDOR = ('vendor_id', 'CPU implementer')
_MODEL = ('model name', 'cpu')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Processors:
    """The words that all processors have, with their vendor and model.

    :ivar words: None if the kernel's answer is incomplete; ``reason`` then
        says why
    :ivar partial: words that only some of the processors have
    """

    words: frozenset[str] | None = None
    partial: frozenset[str] = frozenset()
    vendor: str = ''
    model: str = ''
    microcode: str = ''
    reason: str = ''


def parse(text: str | None, family: str | None) -> Processors:
    """Return the words, vendor and model that all processors have.

    :param text: None if the file could not be read
    :param family: a key of ``cpu_traits.ROWS``; None to look for no words
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
        reason = f'there is no table for {PATH} of this machine'
        return dataclasses.replace(seen, reason=reason)
    lines = fields.get(_WORDS[family], [])
    reason = _flaw(text, lines, len(fields.get('processor', [])), family)
    if reason:
        return dataclasses.replace(seen, reason=reason)
    # Hundreds of processors mostly have the same line: split each once.
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
    """Return why the answer is incomplete, empty if it is complete."""
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
