# SPDX-License-Identifier: Apache-2.0
"""The names in an expression, and its use of devices, found without parsing it.

Pure: no I/O, configuration, logging or clock. The CEL library has no syntax tree for
Python, so this module splits the text into words. It knows which facts an
expression reads, and refuses what could use memory without limit or would take
an unknown attribute for an absent one. ``expression.py`` calls it.

``by_attributes`` proves that an expression reads devices by their attributes
alone. The library has no value for an unknown entry of a map, so a device lacks
its unknown attributes, and an expression that looks at a whole device
(``'x' in d``, ``size(d)``, ``d.all(k, …)``, ``d == {…}``) would take them for
absent. Only the plain forms are proven: ``exists`` and the like over a family or
over its ``filter``, the size of either, ``d.attribute`` and ``d['attribute']``.
With these, a device counts as unknown only for attributes of its own that are
unknown.
"""

import dataclasses
import re
from collections.abc import Collection, Container, Iterator, Sequence

MAX_LENGTH = 1000
MAX_NESTED = 3

_NAME = r'[A-Za-z_][A-Za-z0-9_]*'
_BLANK = r'(?:\s|//[^\n]*\n)*'  # a comment may divide a path, as CEL has it
_TOKEN = re.compile(
    rf"""
    (?P<comment>//[^\n]*)
    |(?P<raw>(?:[rR][bB]?|[bB][rR])
        (?:\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}|"[^"\n]*"|'[^'\n]*'))
    |(?P<string>[bB]?
        (?:\"{{3}}(?:\\[\s\S]|[^\\])*?\"{{3}}|'{{3}}(?:\\[\s\S]|[^\\])*?'{{3}}
        |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<path>in\b|{_NAME}(?:{_BLANK}\.{_BLANK}{_NAME})*)
    |(?P<number>[0-9][0-9A-Za-z]*)
    |(?P<other>\S)
    """,
    re.VERBOSE,
)
_TEXTS = frozenset({'raw', 'string'})
COMPREHENSIONS = frozenset({'all', 'exists', 'exists_one', 'filter'})
# Each of these makes large values from small ones.
_GROWING = frozenset({'map', 'transformList', 'transformMap', 'bind'})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word of an expression; a path is without blanks, as ``cpu.flags``."""

    kind: str
    text: str
    offset: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A reason to refuse an expression, and the place in its text."""

    offset: int
    text: str


def too_long(text: str) -> Problem | None:
    """Return the reason to refuse a long text before its words are sought.

    The later checks take a time that grows with the square of the length.
    """
    if len(text) <= MAX_LENGTH:
        return None
    return Problem(
        offset=0,
        text=f'it has {len(text)} characters; write at most {MAX_LENGTH}',
    )


def tokens(text: str) -> list[Token]:
    """Return the words of an expression, comments left out."""
    found = [
        Token(
            kind=match.lastgroup or '',
            text=re.sub(r'\s|//[^\n]*', '', match[0])
            if match.lastgroup == 'path'
            else match[0],
            offset=match.start(),
        )
        for match in _TOKEN.finditer(text)
    ]
    return [token for token in found if token.kind != 'comment']


def references(
    words: Sequence[Token], known: Container[str]
) -> dict[str, Token]:
    """Return the names that an expression reads → where each is first.

    A name of ``local`` is always known: operators' files bring their own.
    """
    found: dict[str, Token] = {}
    for number, token in enumerate(words):
        if token.kind == 'path' and not _is_selected(words, number):
            name = _reference(token.text, known)
            if name:
                found.setdefault(name, token)
    return found


def _is_selected(words: Sequence[Token], number: int) -> bool:
    """Return True for the part of a value: ``x`` in ``f(a).x``, not ``.x``."""
    if number < 2 or words[number - 1].text != '.':
        return False
    before = words[number - 2]
    return before.kind in _TEXTS or before.text in {')', ']', '}'}


def _reference(path: str, known: Container[str]) -> str:
    """Return the longest beginning of a path that is a known name."""
    parts = path.split('.')
    if parts[0] == 'local' and len(parts) > 1:
        return '.'.join(parts[:2])
    for length in range(len(parts), 0, -1):
        name = '.'.join(parts[:length])
        if name in known:
            return name
    return ''


def problems(
    words: Sequence[Token], known: Container[str]
) -> Iterator[Problem]:
    """Yield the reasons to refuse an expression before it is compiled."""
    bound = _bound(words)
    stack: list[bool] = []
    for number, token in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else None
        calls = after is not None and after.text == '('
        yield from _growth(token, stack, calls=calls)
        yield from _absence(words, number, known, bound)
        if token.text == '(':
            stack.append(number > 0 and _opens(words[number - 1]))
        elif token.text == ')' and stack:
            stack.pop()


def _opens(before: Token) -> bool:
    return before.kind == 'path' and _last(before) in COMPREHENSIONS


def _last(token: Token) -> str:
    return token.text.rpartition('.')[2]


def _bound(words: Sequence[Token]) -> frozenset[str]:
    """Return the variables that ``exists`` and the like bind."""
    return frozenset(
        words[number + 2].text
        for number, token in enumerate(words[:-2])
        if words[number + 1].text == '(' and _opens(token)
    )


def _growth(
    token: Token, stack: Sequence[bool], *, calls: bool
) -> Iterator[Problem]:
    if token.kind == 'path' and calls and _last(token) in _GROWING:
        yield Problem(
            offset=token.offset,
            text=f'{_last(token)}() is not allowed here; use exists, all, '
            'exists_one or filter',
        )
    if token.text == '+' and any(stack):
        yield Problem(
            offset=token.offset,
            text='+ is not allowed inside exists, all or filter; compare the '
            'parts',
        )
    nested = sum(stack)
    if nested == MAX_NESTED and calls and _opens(token):
        yield Problem(
            offset=token.offset,
            text=f'{_last(token)} stands inside {MAX_NESTED} others; nest '
            'them less',
        )


def _absence(
    words: Sequence[Token],
    number: int,
    known: Container[str],
    bound: Collection[str],
) -> Iterator[Problem]:
    """Refuse to ask if a name exists: an unknown one would look absent."""
    token = words[number]
    following = [word.text for word in words[number + 1 : number + 3]]
    if token.text == 'has' and following[:1] == ['(']:
        path = following[1] if len(following) > 1 else ''
        name = _reference(path, known)
        if not name or name == path:
            yield Problem(
                offset=token.offset,
                text='has() asks for an entry of a fact that is a map; '
                'compare the fact itself, which may be unknown',
            )
    is_whole = following[1:] != ['[']  # d['x'] is an attribute of d
    if token.text == 'in' and is_whole and {*following[:1]} & {*bound}:
        yield Problem(
            offset=token.offset,
            text=f'{following[0]} is a device or an entry, and an unknown '
            'attribute of it would look absent; compare the attribute',
        )


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


def _text(words: Sequence[Token], number: int) -> str:
    """Return a word; nothing outside the expression."""
    return words[number].text if 0 <= number < len(words) else ''
