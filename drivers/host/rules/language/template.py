# SPDX-License-Identifier: Apache-2.0
"""A name with expressions in braces, such as ``CUSTOM_CPU_{cpu.model}``.

Pure: no I/O, configuration, logging or clock. Each expression gives a text, a
number, or a list of these; a list gives a name for each item. The part of a
custom name after ``CUSTOM_`` is normalized as placement's names are.
"""

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterator, Mapping

from compute_agent import errors
from compute_agent.tree import names

from . import expression, lexing
from .expression import Expression, Plain, Unknown

MAX_RESULTS = 64
_BRACES = re.compile(r'\{([^{}]*)\}')
_ANYTHING = '[A-Z0-9_]*'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A name, or a part of a name: text and expressions in turn."""

    text: str
    parts: tuple[str | Expression, ...]

    @property
    def references(self) -> tuple[str, ...]:
        """The names of the facts that it reads."""
        found = [p.references for p in self.parts if not isinstance(p, str)]
        return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))

    @property
    def is_constant(self) -> bool:
        """True if it has no expression."""
        return all(isinstance(part, str) for part in self.parts)

    def results(self, values: Mapping[str, Plain]) -> list[str] | Unknown:
        """Return the texts that it gives; several if a part is a list."""
        options: list[list[str]] = []
        for part in self.parts:
            found = _texts(part, values)
            if isinstance(found, Unknown):
                return found
            options.append(found)
        texts = list(
            itertools.islice(itertools.product(*options), MAX_RESULTS + 1)
        )
        if len(texts) > MAX_RESULTS:
            return Unknown(
                reason=f'{self.text} gives more than {MAX_RESULTS} names'
            )
        return [''.join(text) for text in texts]

    def traits(self, values: Mapping[str, Plain]) -> frozenset[str] | Unknown:
        """Return the traits that it gives."""
        texts = self.results(values)
        if isinstance(texts, Unknown):
            return texts
        try:
            return frozenset(_symbol(text) for text in texts)
        except errors.InvalidName as exc:
            return Unknown(reason=str(exc))

    def pattern(self) -> re.Pattern[str]:
        """Return an expression that every trait of this template matches."""
        parts = [
            re.escape(part) if isinstance(part, str) else _ANYTHING
            for part in self._normalized()
        ]
        return re.compile(''.join(parts))

    def _normalized(self) -> Iterator[str | Expression]:
        for part in self.parts:
            if isinstance(part, str) and not self.is_constant:
                yield re.sub(r'[^0-9A-Za-z]+', '_', part).upper()
            else:
                yield part


def compile_template(text: str, known: Collection[str]) -> Template:
    """Return the compiled template.

    :raises expression.Invalid: an expression in it has mistakes
    :raises expression.LibraryMissing: the library is not installed
    """
    problems: list[lexing.Problem] = []
    parts: list[str | Expression] = []
    for number, part in enumerate(_BRACES.split(text)):
        if number % 2 == 0:
            parts.append(part)
            continue
        offset = sum(map(len, _BRACES.split(text)[:number])) + number
        try:
            parts.append(expression.compile_expression(part, known))
        except expression.Invalid as exc:
            problems += [
                dataclasses.replace(p, offset=p.offset + offset)
                for p in exc.problems
            ]
    outside = re.search(r'[{}]', _BRACES.sub('', text))
    if outside is not None:
        offset = text.index(outside[0])
        problems.append(
            lexing.Problem(
                offset=offset,
                text=f'{outside[0]} stands alone; write {{expression}}',
            )
        )
    if problems:
        raise expression.Invalid(problems)
    return Template(
        text=text, parts=tuple(part for part in parts if part != '')
    )


def _symbol(text: str) -> str:
    if not text.startswith(names.CUSTOM_PREFIX):
        return names.check_symbol(text, 'trait')
    return names.custom_name(text.removeprefix(names.CUSTOM_PREFIX))


def _texts(
    part: str | Expression, values: Mapping[str, Plain]
) -> list[str] | Unknown:
    if isinstance(part, str):
        return [part]
    value = part.evaluate(values)
    if isinstance(value, Unknown):
        return value
    found = value if isinstance(value, list) else [value]
    for item in found:
        if item is None or isinstance(item, (dict, list, bool)) or item == '':
            return Unknown(
                reason=f'{part.text} gives {_shown(item)}, and a name needs '
                'a text or a number'
            )
    return [str(item) for item in found]


def _shown(value: object) -> str:
    match value:
        case None | '':
            return 'nothing'
        case bool():
            return str(value).lower()
        case _:
            return 'a list or a map'
