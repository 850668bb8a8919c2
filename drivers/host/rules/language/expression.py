# SPDX-License-Identifier: Apache-2.0
"""An expression in CEL: compiled once, evaluated with facts.

Pure: no I/O, configuration, logging or clock. The library is cel-expr-python,
Google's C++ evaluator: it has CEL's logic of errors (``true || error`` is
true), a budget of iterations for each evaluation, a limit of depth, regular
expressions that take linear time, and errors with line and column. A fact that
is unknown is left out of an evaluation, so an expression that depends on it
ends in an error, and that counts as unknown.
"""

import dataclasses
import difflib
import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...facts import fact
from . import lexing

if TYPE_CHECKING:
    from cel_expr_python import cel

Plain: TypeAlias = Any  # what the library takes: lists, dicts and scalars

_ERROR = re.compile(
    r'ERROR: <input>:(?P<line>-?\d+):(?P<column>-?\d+): (?P<text>[^\n]*)'
)
_UNDECLARED = re.compile(r"undeclared reference to '(?P<name>[^']*)'")
_NO_KEY = re.compile(r'Key not found in map : "(?P<name>[^"]*)"')
_NO_VALUE = re.compile(r'No value with name "(?P<name>[^"]*)"')
_ENVIRONMENTS = 64  # a few per family of devices, and one per local fact


class Partly(list[Plain]):
    """The devices of a family, of which one has an unknown attribute."""


class LibraryMissing(Exception):
    """The CEL library is not installed."""


class Invalid(Exception):
    """An expression has mistakes, each with a place in its text."""

    def __init__(self, problems: Collection[lexing.Problem]) -> None:
        super().__init__('; '.join(p.text for p in problems))
        self.problems = tuple(problems)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The result of an expression that cannot be decided, and why."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A compiled expression.

    :ivar references: the names of the facts that it reads
    :ivar by_attributes: True if it reads devices only by their attributes
    """

    text: str
    references: tuple[str, ...]
    program: 'cel.Expression' = dataclasses.field(repr=False, compare=False)
    by_attributes: bool = True

    def evaluate(self, values: Mapping[str, Plain]) -> Plain | Unknown:
        """Return the value, or ``Unknown`` if it cannot be decided.

        :param values: the facts that are known, as the library takes them
        """
        data = {n: values[n] for n in self.references if n in values}
        partly = {n for n, v in data.items() if isinstance(v, Partly)}
        for name in partly:
            data[name] = list(data[name])  # the library takes no subclass
        withheld = set() if self.by_attributes else partly
        result = self._result({n: data[n] for n in data.keys() - withheld})
        for name in sorted(withheld):
            if result == Unknown(reason=f'{name} is unknown'):
                return _of_whole_device(name)
        return result

    def _result(self, data: Mapping[str, Plain]) -> Plain | Unknown:
        try:
            result = self.program.eval(data=data)
            value = result.plain_value()
        except (RuntimeError, ValueError, TypeError) as exc:
            return Unknown(reason=_reason(str(exc)))
        if result.type() == _library().Type.ERROR:
            return Unknown(reason=_reason(str(result.value())))
        return value


def compile_expression(
    text: str, known: Collection[str], *, condition: bool = False
) -> Expression:
    """Return the compiled expression.

    :param known: the names of all facts that it may read
    :param condition: True if the expression must give true or false
    :raises Invalid: the expression has mistakes
    :raises LibraryMissing: the library is not installed
    """
    _library()
    too_long = lexing.too_long(text)
    if too_long is not None:
        raise Invalid([too_long])
    words = lexing.tokens(text)
    names = lexing.references(words, known)
    found = list(lexing.problems(words, known))
    if found:
        raise Invalid(found)
    env = _environment(frozenset({*known, *names}))
    try:
        program = env.compile(text)
    except (RuntimeError, TypeError) as exc:
        raise Invalid(_mistakes(text, words, str(exc), known)) from exc
    if condition:
        _check_condition(program)
    found = list(_wrong_patterns(words))
    if found:
        raise Invalid(found)
    families = names.keys() & set(fact.DEVICE_FAMILIES)
    return Expression(
        text=text,
        references=tuple(names),
        program=program,
        by_attributes=lexing.by_attributes(words, families),
    )


def plain(value: fact.Value) -> Plain:
    """Return a fact's value as the library takes it."""
    match value:
        case tuple() | list():
            return [plain(item) for item in value]
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case str():
            # A lone surrogate has no UTF-8, and the library needs it.
            return value.encode(errors='replace').decode()
        case _:
            return value


def suggestion(name: str, known: Collection[str]) -> str:
    """Return ``: did you mean X?`` for a name like a known one, or nothing."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f': did you mean {close[0]}?' if close else ''


def _library() -> Any:
    try:
        from cel_expr_python import cel  # noqa: PLC0415 (an extra)
    except ImportError as exc:
        raise LibraryMissing(
            'rules need the package cel-expr-python; install '
            "'compute-agent[host]'"
        ) from exc
    return cel


@functools.lru_cache(maxsize=_ENVIRONMENTS)
def _environment(names: frozenset[str]) -> Any:
    """Return CEL's environment with these names.

    Expressions share it, because the first one of an environment takes the
    library as long as fifty others.
    """
    cel = _library()
    return cel.NewEnv(variables=dict.fromkeys(names, cel.Type.DYN))


def _check_condition(program: 'cel.Expression') -> None:
    cel = _library()
    kind = program.return_type()
    if kind not in (cel.Type.BOOL, cel.Type.DYN):
        raise Invalid(
            [
                lexing.Problem(
                    offset=0,
                    text=f'a condition gives true or false, and this gives '
                    f'{kind.name().lower()}; write a comparison',
                )
            ]
        )


def _wrong_patterns(
    words: Sequence[lexing.Token],
) -> Iterator[lexing.Problem]:
    """Yield the regular expressions that are not valid, before any use."""
    for number, token in enumerate(words[:-2]):
        call, pattern = words[number + 1], words[number + 2]
        matches = f'.{token.text}'.endswith('.matches') and call.text == '('
        if matches and pattern.kind in {'raw', 'string'}:
            env = _environment(frozenset())
            result = env.compile(f"''.matches({pattern.text})").eval(data={})
            if result.type() == _library().Type.ERROR:
                yield lexing.Problem(
                    offset=pattern.offset, text=_reason(str(result.value()))
                )


def _mistakes(
    text: str,
    words: Collection[lexing.Token],
    message: str,
    known: Collection[str],
) -> list[lexing.Problem]:
    """Return the library's errors with their places; names get advice."""
    found = [
        _mistake(text, words, match, known)
        for match in _ERROR.finditer(message)
    ]
    if not found:
        return [lexing.Problem(offset=0, text=message.splitlines()[0][:200])]
    unique = {(p.offset, p.text): p for p in found}
    return list(unique.values())


def _mistake(
    text: str,
    words: Collection[lexing.Token],
    match: re.Match[str],
    known: Collection[str],
) -> lexing.Problem:
    offset = _offset(text, int(match['line']), int(match['column']))
    undeclared = _UNDECLARED.match(match['text'])
    if undeclared is None:
        return lexing.Problem(offset=offset, text=match['text'])
    name = undeclared['name']
    for token in words:
        if token.kind == 'path' and f'{token.text}.'.startswith(f'{name}.'):
            offset = token.offset
            name = token.text if '.' not in name else name
            break
    advice = suggestion(name, known) or '; "compute-agent facts" lists them'
    return lexing.Problem(
        offset=offset, text=f'there is no fact {name}{advice}'
    )


def _offset(text: str, line: int, column: int) -> int:
    lines = text.splitlines(keepends=True)
    return max(sum(map(len, lines[: max(line - 1, 0)])) + column - 1, 0)


def _of_whole_device(family: str) -> Unknown:
    return Unknown(
        reason=f'an attribute of a device of {family} is unknown, and the '
        'expression looks at a whole device; compare attributes'
    )


def _reason(message: str) -> str:
    """Return the library's error as a reason, on one line."""
    missing = _NO_VALUE.search(message)
    if missing is not None:
        return f'{missing["name"]} is unknown'
    absent = _NO_KEY.search(message)
    if absent is not None:
        return f'{absent["name"]} of a device or an entry is unknown'
    text = re.sub(r'^[A-Z_]+: ', '', message.splitlines()[0])
    return re.sub(r' \[[A-Z_]+\]$', '', text)[:200]
