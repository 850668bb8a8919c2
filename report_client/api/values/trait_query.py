# SPDX-License-Identifier: Apache-2.0
"""A condition on the traits of a provider: required, any of, forbidden.

Pure: no I/O, configuration, logging or clock. It is the ``required`` parameter
of ``GET /resource_providers`` and ``GET /allocation_candidates`` as a value:
parsed from a person's input, checked, and formatted for placement.
A contradiction is refused on every route. Placement refuses it for candidates,
but answers ``GET /resource_providers`` with an empty list and no error.
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
    """A condition on the traits of one provider; an empty one is always met.

    :ivar required: the provider has all of these
    :ivar any_of: the provider has at least one of each group
    :ivar forbidden: the provider has none of these
    :raises errors.InvalidName: on construction, a name is outside the grammar,
        a group is empty, or no provider could ever meet the condition
    """

    required: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in (self.required, self.any_of, self.forbidden):
            names.check_collection(part)
        for group in self.any_of:
            names.check_collection(group)
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
        """Return the query that these options express together.

        :param texts: one text for each ``--required``: ``A,!B``, or ``in:A,B``
        :raises errors.InvalidName: a text is malformed, or they contradict
            each other
        """
        required: list[str] = []
        any_of: list[tuple[str, ...]] = []
        forbidden: list[str] = []
        for text in names.check_collection(texts):
            if not isinstance(text, str):
                raise errors.InvalidName(
                    f'{error_text.excerpt(text)} is not a string: write "NAME,{NOT}NAME"'
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

    @classmethod
    def of_options(
        cls, required: Iterable[str], forbidden: Iterable[str] = ()
    ) -> Self:
        """Return the query of the options ``--required`` and ``--forbidden``.

        :param required: a trait each, or several with commas, of which one is
            enough
        :param forbidden: a trait each
        :raises errors.InvalidName: a text is malformed, or they contradict
            each other
        """
        groups = [
            tuple(dict.fromkeys(_terms(_bare(text), text, 'NAME,NAME')))
            for text in names.check_collection(required)
        ]
        return cls(
            required=tuple(
                dict.fromkeys(group[0] for group in groups if len(group) == 1)
            ),
            any_of=tuple(
                dict.fromkeys(group for group in groups if len(group) > 1)
            ),
            forbidden=tuple(
                dict.fromkeys(
                    trait_names.check(_bare(text).strip())
                    for text in names.check_collection(forbidden)
                )
            ),
        )

    @property
    def traits(self) -> tuple[str, ...]:
        """All traits of the condition, each once."""
        several = (name for group in self.any_of for name in group)
        every = (*self.required, *several, *self.forbidden)
        return tuple(dict.fromkeys(every))

    @property
    def least_version(self) -> Version:
        """The oldest microversion of ``GET /resource_providers`` that has it.

        1.18 has ``required``, 1.22 ``!``, 1.39 ``in:`` and repetition.
        """
        if self.any_of:
            return (1, 39)
        return (1, 22) if self.forbidden else (1, 18)

    def parameters(self) -> list[str]:
        """Return the values of the ``required`` parameter, if any.

        One value holds all required and forbidden traits, so that only
        ``in:`` needs a placement in which the parameter may be repeated.
        """
        terms = [*self.required, *(f'{NOT}{name}' for name in self.forbidden)]
        values = [','.join(terms)] if terms else []
        return values + [ANY_OF + ','.join(group) for group in self.any_of]

    def __bool__(self) -> bool:
        return bool(self.required or self.any_of or self.forbidden)

    def _check_contradiction(self) -> None:
        for group in (*((name,) for name in self.required), *self.any_of):
            if set(group) <= set(self.forbidden):
                listed = ' and '.join(group)
                raise errors.InvalidName(
                    f'{listed} cannot be required and forbidden at once'
                )


def _terms(text: str, whole: str, form: str) -> Iterator[str]:
    """Yield the terms between commas, without surrounding whitespace.

    :param whole: the complete option, for the message
    :param form: the right form, for the message
    """
    for part in text.split(','):
        term = part.strip()
        if not term or term == NOT:
            raise errors.InvalidName(
                f'a trait is missing in {error_text.excerpt(whole)}: write {form}'
            )
        yield term


def _bare(text: str) -> str:
    """Return the text of an option, which has no marks of placement's API.

    :raises errors.InvalidName: the text has such a mark
    """
    bare = text.strip()
    if bare.startswith(ANY_OF):
        raise errors.InvalidName(
            f'{error_text.excerpt(text)}: leave "{ANY_OF}" out; commas '
            'between traits mean that one of them is enough'
        )
    if NOT in bare:
        raise errors.InvalidName(
            f'{error_text.excerpt(text)}: write --forbidden NAME for a trait '
            'that no provider may have'
        )
    return bare


def _any_of(text: str) -> tuple[str, ...]:
    found = []
    terms = text.strip().removeprefix(ANY_OF)
    for term in _terms(terms, text, f'{ANY_OF}NAME,NAME'):
        if term.startswith(NOT):
            raise errors.InvalidName(
                f'{term:.60} cannot follow "{ANY_OF}" in '
                f'{error_text.excerpt(text)}: forbid it in a separate option'
            )
        found.append(_required(term, text))
    return tuple(dict.fromkeys(found))


def _forbidden(term: str, text: str) -> str:
    name = term.removeprefix(NOT)
    if name != name.lstrip():
        raise errors.InvalidName(
            f'there is a space after "{NOT}" in {error_text.excerpt(text)}: write '
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
            f'"{ANY_OF}" is in the middle of {error_text.excerpt(text)}: give '
            f'{name:.60} a separate option'
        )
    return trait_names.check(name)
