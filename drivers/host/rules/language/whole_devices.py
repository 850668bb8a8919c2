# SPDX-License-Identifier: Apache-2.0
"""The proof that an expression reads devices by their attributes alone.

Pure: no I/O, configuration, logging or clock. The CEL library has no value
for an unknown entry of a map, so a device lacks its unknown attributes, and an
expression that looks at a whole device (``'x' in d``, ``size(d)``,
``d.all(k, …)``, ``d == {…}``) would take them for absent. Only the plain forms
are proven: ``exists`` and the like over a family or over its ``filter``, the
size of either, ``d.attribute`` and ``d['attribute']``. With these, a device
counts as unknown only for attributes of its own that are unknown.
``expression.py`` calls this.
"""

from collections.abc import Collection, Iterator, Sequence

from .lexing import COMPREHENSIONS, Token

_SIZE = 'size'
_BRACKETS = {'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}


def by_attributes(words: Sequence[Token], families: Collection[str]) -> bool:
    """Return True if all devices are surely read by attributes alone.

    :param families: the families of devices that the expression reads
    """
    if not families:
        return True
    devices = set(_variables(words, families))
    return all(
        _is_plain(words, number, families, devices)
        for number, token in enumerate(words)
        if token.kind == 'path'
    )


def _variables(
    words: Sequence[Token], families: Collection[str]
) -> Iterator[str]:
    """Yield the variables that may stand for devices.

    A variable over another fact, as in ``cpu.flags.exists(f, …)``, does not.
    """
    for number, token in enumerate(words[:-2]):
        first, _, rest = token.text.partition('.')
        opens = _last(token) in COMPREHENSIONS
        opens = opens and words[number + 1].text == '('
        if opens and (not rest or first in families):
            yield words[number + 2].text


def _is_plain(
    words: Sequence[Token],
    number: int,
    families: Collection[str],
    devices: Collection[str],
) -> bool:
    first, _, rest = words[number].text.partition('.')
    if first in families:
        follows = _text(words, number - 1) == '.'
        return not follows and _is_list(words, number, rest)
    if first not in devices or _is_binding(words, number):
        return True
    if rest:
        return _is_attribute(words, number, rest)
    return _text(words, number + 1) == '['


def _is_binding(words: Sequence[Token], number: int) -> bool:
    """Return True for the variable behind ``exists(``."""
    return (
        number > 1
        and _last(words[number - 2]) in COMPREHENSIONS
        and _text(words, number - 1) == '('
        and _text(words, number + 1) == ','
    )


def _is_attribute(words: Sequence[Token], number: int, path: str) -> bool:
    """Return True if a path behind a device does not call its methods.

    :param number: the place of the path's last word
    """
    return '.' in path or _text(words, number + 1) != '('


def _is_list(words: Sequence[Token], number: int, method: str) -> bool:
    """Return True if a list of devices is only searched, counted or indexed.

    :param number: the place of ``family.method``, or of a filter's ``)``
    """
    end = number + 1
    if not method:
        return _is_counted(words, number, end) or _is_item(words, end)
    if method == 'filter':
        after = _closing(words, end) + 1
        if _text(words, after) != '.':
            counted = _is_counted(words, number, after)
            return counted or _is_item(words, after)
        return _is_list(words, after + 1, _text(words, after + 1))
    return method in {*COMPREHENSIONS, _SIZE} and _text(words, end) == '('


def _is_counted(words: Sequence[Token], start: int, end: int) -> bool:
    """Return True if the words from start to end are all of ``size(…)``."""
    before = [_text(words, start - 2), _text(words, start - 1)]
    return before == [_SIZE, '('] and _text(words, end) == ')'


def _is_item(words: Sequence[Token], start: int) -> bool:
    """Return True for ``[0].vendor`` and ``[0]['vendor']`` behind a list."""
    if _text(words, start) != '[':
        return False
    after = _closing(words, start) + 1
    if _text(words, after) == '.':
        return _is_attribute(words, after + 1, _text(words, after + 1))
    return _text(words, after) == '['


def _closing(words: Sequence[Token], number: int) -> int:
    """Return the place of the bracket that ends the one at ``number``."""
    depth = 0
    for place in range(number, len(words)):
        depth += _BRACKETS.get(words[place].text, 0)
        if depth <= 0:
            return place
    return len(words)


def _last(token: Token) -> str:
    return token.text.rpartition('.')[2]


def _text(words: Sequence[Token], number: int) -> str:
    """Return a word; nothing outside the expression."""
    return words[number].text if 0 <= number < len(words) else ''
