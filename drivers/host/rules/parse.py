# SPDX-License-Identifier: Apache-2.0
"""Turn a rule file into rules; every name and expression is checked.

Pure: no I/O, configuration, logging or clock. The input is a document that
fits the schema. All mistakes of a file are found at once. ``rule_files.py``
reads the document.
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import os_resource_classes
import os_traits

from compute_agent.tree import names

from .language import expression, template
from .language.expression import Expression
from .language.template import Template
from .positions import Mistake, Positions, Step
from .rule import NODE, Rule, Trait, Vocabulary

_Compiled = TypeVar('_Compiled')
_NAMED_NODE = '{node}'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A name of a rule under ``enabled`` or ``disabled``."""

    name: str
    on: bool
    path: str
    line: int
    column: int

    def mistake(self, problem: str) -> Mistake:
        """Return a mistake at this name."""
        return Mistake(
            path=self.path,
            line=self.line,
            column=self.column,
            problem=problem,
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The content of one rule file."""

    rules: tuple[Rule, ...]
    switches: tuple[Switch, ...]
    mistakes: tuple[Mistake, ...]


def parse(data: Any, positions: Positions, words: Vocabulary) -> File:
    """Return the file's rules and mistakes.

    :param data: the content, which fits the schema
    :raises expression.LibraryMissing: the CEL library is not installed
    """
    mistakes: list[Mistake] = []
    rules = []
    for number, entry in enumerate(data.get('rules', ())):
        reader = _Reader(entry, ('rules', number), positions, words)
        rules.append(reader.rule())
        mistakes += reader.mistakes
    return File(
        rules=tuple(rules),
        switches=tuple(_switches(data, positions)),
        mistakes=tuple(mistakes),
    )


def _switches(
    data: Mapping[str, Sequence[str]], positions: Positions
) -> Iterator[Switch]:
    for key, on in (('enabled', True), ('disabled', False)):
        for number, name in enumerate(data.get(key, ())):
            line, column = positions.place(key, number)
            yield Switch(
                name=name,
                on=on,
                path=positions.document.path,
                line=line,
                column=column,
            )


class _Reader:
    """Reads one rule; ``mistakes`` has its mistakes."""

    def __init__(
        self,
        entry: Mapping[str, Any],
        path: tuple[Step, ...],
        positions: Positions,
        words: Vocabulary,
    ) -> None:
        self._entry = entry
        self._path = path
        self._positions = positions
        self._for_each = entry.get('for_each', '')
        self._known = words.names(self._for_each)
        self.mistakes: list[Mistake] = []

    def rule(self) -> Rule:
        """Return the rule without the parts that have mistakes."""
        entry = self._entry
        line, _ = self._positions.place(*self._path, 'name')
        self._check_shape()
        return Rule(
            name=entry['name'],
            place=f'{self._positions.document.path}:{line}',
            enabled=entry.get('enabled', True),
            when=self._condition(entry['when'], 'when')
            if 'when' in entry
            else None,
            for_each=self._for_each,
            child=self._child() if 'child' in entry else None,
            traits=tuple(self._traits()),
            inventory=dict(self._inventory()),
        )

    def _check_shape(self) -> None:
        entry = self._entry
        if 'inventory' in entry and 'child' not in entry:
            self._wrong(
                'a rule gives no inventory to the root, which has the '
                f"hypervisor's own; add child: '{_NAMED_NODE}_NAME'",
                'inventory',
                key=True,
            )
        if not {'traits', 'child'} & entry.keys():
            self._wrong('the rule gives nothing; add traits or a child')

    def _condition(self, text: str, *place: Step) -> Expression | None:
        def compiled(text: str, known: Collection[str]) -> Expression:
            return expression.compile_expression(text, known, condition=True)

        return self._compiled(compiled, text, *place)

    def _child(self) -> Template | None:
        text = self._entry['child']
        found = self._compiled(template.compile_template, text, 'child')
        if found is not None and NODE not in found.references:
            self._wrong(
                f'the name {text!r} would be the same on every host, and '
                f'names of providers are unique; write {_NAMED_NODE} in it',
                'child',
            )
        return found

    def _traits(self) -> Iterator[Trait]:
        for number, entry in enumerate(self._entry.get('traits', ())):
            place: tuple[Step, ...] = ('traits', number)
            when = None
            text = entry
            if isinstance(entry, dict):
                ((text, condition),) = entry.items()
                place = (*place, text)
                when = self._condition(condition, *place)
            found = self._compiled(template.compile_template, text, *place)
            if found is None:
                continue
            problem = _wrong_trait(found)
            if problem:
                self._wrong(problem, *place, key=text is not entry)
            yield Trait(template=found, when=when)

    def _inventory(
        self,
    ) -> Iterator[tuple[str, Mapping[str, int | float | Expression]]]:
        for rc, record in self._entry.get('inventory', {}).items():
            place = ('inventory', rc)
            problem = _wrong_class(rc)
            if problem:
                self._wrong(problem, *place, key=True)
            fields = record if isinstance(record, dict) else {'total': record}
            below = isinstance(record, dict)
            found = {
                field: self._amount(value, *place, *([field] * below))
                for field, value in fields.items()
            }
            yield rc, {f: v for f, v in found.items() if v is not None}

    def _amount(
        self, value: Any, *place: Step
    ) -> int | float | Expression | None:
        if not isinstance(value, str):
            low = 0 if place[-1] == 'reserved' else 1
            if isinstance(value, int) and value < low:
                self._wrong(
                    f'{value} is too small; write {low} or more', *place
                )
            number: int | float = value
            return number
        return self._compiled(expression.compile_expression, value, *place)

    def _compiled(
        self,
        compiler: Callable[[str, Collection[str]], _Compiled],
        text: str,
        *place: Step,
    ) -> _Compiled | None:
        """Return the compiled text, or None and its mistakes."""
        try:
            return compiler(text, self._known)
        except expression.Invalid as exc:
            for problem in exc.problems:
                self._wrong(problem.text, *place, offset=problem.offset)
            return None

    def _wrong(
        self, problem: str, *place: Step, offset: int = 0, key: bool = False
    ) -> None:
        name = self._entry['name']
        self.mistakes.append(
            self._positions.mistake(
                f'rule {name}: {problem}',
                *self._path,
                *place,
                offset=offset,
                key=key,
            )
        )


def _wrong_trait(found: Template) -> str:
    """Return why a text cannot be a trait; empty if it can."""
    text = found.text
    if not found.is_constant:
        if text.startswith(names.CUSTOM_PREFIX):
            return ''
        return f'{text!r} has an expression; begin it with CUSTOM_'
    if names.is_custom(text) and text == names.custom_name(text[7:]):
        return ''
    if names.is_custom(text):
        return f'{text!r} is no trait; write {names.custom_name(text[7:])}'
    known = _standard_traits()
    if text in known:
        return ''
    advice = expression.suggestion(text, known)
    return (
        f'{text!r} is no standard trait{advice or "; begin it with CUSTOM_"}'
    )


@functools.cache
def _standard_traits() -> frozenset[str]:
    """Return all standard traits; the library walks its modules each time."""
    return frozenset(os_traits.get_traits())


def _wrong_class(rc: str) -> str:
    """Return why a text cannot be a resource class; empty if it can."""
    if names.is_custom(rc) or rc in os_resource_classes.STANDARDS:
        return ''
    advice = expression.suggestion(rc, os_resource_classes.STANDARDS)
    return f'{rc} is no standard class{advice or "; begin it with CUSTOM_"}'
