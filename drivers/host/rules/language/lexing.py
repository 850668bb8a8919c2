# SPDX-License-Identifier: Apache-2.0
"""The names in an expression, found without parsing it.

Pure: no I/O, configuration, logging or clock. The CEL library has no syntax
tree for Python, so this module splits the text into words. It knows which
facts an expression reads, and refuses what could use memory without limit or
would take an unknown attribute for an absent one. ``expression.py`` calls it.
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
# Each makes values of any size from small ones.
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

    The time of all that follows grows with the square of the length.
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
