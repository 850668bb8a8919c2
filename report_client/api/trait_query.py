# SPDX-License-Identifier: Apache-2.0
"""What is asked of the traits of a provider: required, any of, forbidden.

Pure: no I/O, configuration, logging or clock. It is the ``required`` parameter
of ``GET /resource_providers`` and ``GET /allocation_candidates`` as a value
(seed 001): read from what a person writes, checked, and written back as
placement takes it. What contradicts itself is refused on every route;
placement does that for candidates, and lists no provider without a word.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Self

from compute_agent import error_text, errors
from compute_agent.tree import names

from . import trait_names

ANY_OF = 'in:'
NOT = '!'

Version = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TraitQuery:
    """A condition on the traits of one provider; an empty one holds for all.

    :ivar required: each of these is there
    :ivar any_of: of each of these groups at least one is there
    :ivar forbidden: none of these is there
    :raises errors.InvalidName: on construction, a name is outside the grammar,
        a group is empty, or nothing could ever meet the condition
    """

    required: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for some in (self.required, self.any_of, self.forbidden):
            names.collection(some)
        for some in self.any_of:
            names.collection(some)
        for group in self.any_of:
            if not group:
                raise errors.InvalidName(
                    f'"{ANY_OF}" names no trait: write {ANY_OF}NAME,NAME'
                )
        for name in self.traits:
            trait_names.check(name)
        self._check_contradiction()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Return the query that these options make up together.

        :param texts: one for each ``--required``: ``A,!B``, or ``in:A,B``
        :raises errors.InvalidName: one of them is malformed, or they
            contradict each other
        """
        required: list[str] = []
        any_of: list[tuple[str, ...]] = []
        forbidden: list[str] = []
        for text in names.collection(texts):
            if not isinstance(text, str):
                raise errors.InvalidName(
                    f'{error_text.excerpt(text)} is no text: write "NAME,{NOT}NAME"'
                )
            if text.strip().startswith(ANY_OF):
                any_of.append(_any_of(text))
                continue
            for term in _terms(text, text, f'NAME,{NOT}NAME'):
                if term.startswith(NOT):
                    forbidden.append(_forbidden(term, text))
                else:
                    required.append(_required(term, text))
        return cls(
            required=tuple(dict.fromkeys(required)),
            any_of=tuple(dict.fromkeys(any_of)),
            forbidden=tuple(dict.fromkeys(forbidden)),
        )

    @property
    def traits(self) -> tuple[str, ...]:
        """Every trait that is named, each once."""
        several = (name for group in self.any_of for name in group)
        every = (*self.required, *several, *self.forbidden)
        return tuple(dict.fromkeys(every))

    @property
    def least_version(self) -> Version:
        """The microversion that ``GET /resource_providers`` needs for it.

        1.18 has ``required``, 1.22 ``!``, 1.39 ``in:`` and repetition.
        """
        if self.any_of:
            return (1, 39)
        return (1, 22) if self.forbidden else (1, 18)

    def parameters(self) -> list[str]:
        """Return the values of the ``required`` parameter, one or more.

        There is one for everything that is no ``in:``, so that only ``in:``
        needs a placement in which the parameter may be repeated.
        """
        terms = [*self.required, *(f'{NOT}{name}' for name in self.forbidden)]
        values = [','.join(terms)] if terms else []
        return values + [ANY_OF + ','.join(group) for group in self.any_of]

    def __bool__(self) -> bool:
        return bool(self.required or self.any_of or self.forbidden)

    def _check_contradiction(self) -> None:
        for group in (*((name,) for name in self.required), *self.any_of):
            if set(group) <= set(self.forbidden):
                what = ' and '.join(group)
                raise errors.InvalidName(
                    f'{what} cannot be required and forbidden at once: no '
                    'provider is like that'
                )


def _terms(text: str, whole: str, form: str) -> Iterator[str]:
    """Yield what stands between commas, without the space around it.

    :param form: how it is written, for the message
    """
    for part in text.split(','):
        term = part.strip()
        if not term or term == NOT:
            raise errors.InvalidName(
                f'there is a trait missing in {error_text.excerpt(whole)}: write {form}'
            )
        yield term


def _any_of(text: str) -> tuple[str, ...]:
    found = []
    some = text.strip().removeprefix(ANY_OF)
    for term in _terms(some, text, f'{ANY_OF}NAME,NAME'):
        if term.startswith(NOT):
            raise errors.InvalidName(
                f'{term:.60} cannot stand behind "{ANY_OF}" in '
                f'{error_text.excerpt(text)}: forbid it in an option of its own'
            )
        found.append(_required(term, text))
    return tuple(dict.fromkeys(found))


def _forbidden(term: str, text: str) -> str:
    name = term.removeprefix(NOT)
    if name != name.lstrip():
        raise errors.InvalidName(
            f'there is a space behind "{NOT}" in {error_text.excerpt(text)}: write '
            f'{NOT}{name.strip():.60}'
        )
    if name.startswith(NOT):
        raise errors.InvalidName(
            f'there is more than one "{NOT}" in {error_text.excerpt(term)}: write '
            f'{NOT}{name.lstrip(NOT):.60}'
        )
    return _required(name, text)


def _required(name: str, text: str) -> str:
    if name.startswith(ANY_OF):
        raise errors.InvalidName(
            f'"{ANY_OF}" stands in the middle of {error_text.excerpt(text)}: give '
            f'{name:.60} an option of its own'
        )
    return trait_names.check(name)
