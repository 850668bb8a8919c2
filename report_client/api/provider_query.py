# SPDX-License-Identifier: Apache-2.0
"""Which providers are asked for: the query of ``GET /resource_providers``.

Pure: no I/O, configuration, logging or clock. Every condition is on one
provider, and all of them hold together; what spans several providers, groups
and sharing, is asked of allocation candidates. Read from what a person
writes, checked, and written back as placement takes it.
"""

import dataclasses
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Self

from compute_agent import error_text, errors
from compute_agent.tree import inventory, names

from ..http import codec
from . import trait_query

ANY_OF = trait_query.ANY_OF
NOT = trait_query.NOT
_AS_THEY_ARE = ':,!/'
_DIGITS = len(str(inventory.MAX_INT))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MemberOf:
    """A condition on aggregates: member of one of these, or of none of them.

    :raises errors.InvalidName: on construction, one of them is no uuid
    """

    aggregates: tuple[str, ...]
    forbidden: bool = False

    def __post_init__(self) -> None:
        some = names.collection(self.aggregates)
        checked = [names.check_uuid(one, 'aggregate') for one in some]
        object.__setattr__(self, 'aggregates', tuple(dict.fromkeys(checked)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return what one ``--member-of`` says.

        :param text: ``UUID``, ``in:UUID,UUID``, and each with ``!`` before it
        :raises errors.InvalidName: it is written otherwise
        """
        text = _checked(text)
        bare = text.removeprefix(NOT)
        some = [bare]
        if bare.startswith(ANY_OF):
            several = bare.removeprefix(ANY_OF).split(',')
            some = [one.strip() for one in several]
        elif ',' in bare:
            raise errors.InvalidName(
                f'{error_text.excerpt(text)} has several aggregates: write {ANY_OF} before them '
                'for one of these, or give each an option for all of them'
            )
        return cls(aggregates=tuple(some), forbidden=text.startswith(NOT))

    def __str__(self) -> str:
        several = ANY_OF if len(self.aggregates) > 1 else ''
        some = ','.join(self.aggregates)
        return f'{NOT if self.forbidden else ""}{several}{some}'


def check_member_of(some: Iterable[MemberOf]) -> None:
    """Refuse conditions on aggregates that nothing can meet together.

    :raises errors.InvalidName: all that one leaves to be in, others forbid
    """
    several = tuple(some)
    forbidden = {a for one in several if one.forbidden for a in one.aggregates}
    for one in several:
        if not one.forbidden and forbidden.issuperset(one.aggregates):
            raise errors.InvalidName(
                f'aggregate {" and ".join(one.aggregates)} cannot be asked for '
                'and forbidden at once: no provider is like that'
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderQuery:
    """The conditions on a provider; none of them is all providers.

    :ivar resources: resource class → amount that must be free of it
    :ivar in_tree: the uuid of any provider of the tree that is meant
    :raises errors.InvalidName: on construction, a name, uuid or amount is none
    """

    traits: trait_query.TraitQuery = dataclasses.field(
        default_factory=trait_query.TraitQuery
    )
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    member_of: tuple[MemberOf, ...] = ()
    in_tree: str | None = None
    name: str | None = None
    uuid: str | None = None

    def __post_init__(self) -> None:
        check_member_of(self.member_of)
        for rc, amount in self.resources.items():
            names.check_symbol(rc, 'resource class')
            if amount < 1:
                raise errors.InvalidName(
                    f'{rc}: an amount of {amount} is none; ask for 1 or more'
                )
            _check_most(rc, amount > inventory.MAX_INT)
        for field, what in (('in_tree', 'tree'), ('uuid', 'provider')):
            if getattr(self, field) is not None:
                uuid = names.check_uuid(getattr(self, field), what)
                object.__setattr__(self, field, uuid)
        if self.name is not None:
            names.check_provider_name(self.name)

    @property
    def least_version(self) -> codec.Version:
        """The microversion that placement needs for it.

        1.4 has ``resources``, 1.14 ``in_tree``, 1.18 ``required``, 1.24
        repeated ``member_of``, 1.32 ``!`` in it; traits have their own.
        """
        least = codec.OLDEST
        if any(one.forbidden for one in self.member_of):
            least = max(least, (1, 32))
        return max(least, self.traits.least_version)

    def path(self) -> str:
        """Return the path, with the query, that asks placement for it."""
        pairs = [
            *(('required', value) for value in self.traits.parameters()),
            *(('member_of', str(one)) for one in self.member_of),
            ('resources', _listed(self.resources)),
            ('in_tree', self.in_tree),
            ('name', self.name),
            ('uuid', self.uuid),
        ]
        query = urllib.parse.urlencode(
            [(key, value) for key, value in pairs if value],
            safe=_AS_THEY_ARE,
        )
        return f'{codec.PROVIDERS}?{query}' if query else codec.PROVIDERS


def parse_resources(texts: Iterable[str]) -> dict[str, int]:
    """Return resource class → amount from what ``--resources`` says.

    :param texts: each ``RC:AMOUNT``, several with commas between them
    :raises errors.InvalidName: one is written otherwise, or given twice
    """
    found: dict[str, int] = {}
    some = [_checked(text) for text in names.collection(texts)]
    for term in (part.strip() for text in some for part in text.split(',')):
        rc, _, amount = term.replace('=', ':', 1).partition(':')
        if not amount.isascii() or not amount.isdigit():
            raise errors.InvalidName(
                f'{error_text.excerpt(term)} is no amount of a resource class: write for '
                'example VCPU:2'
            )
        if rc in found:
            raise errors.InvalidName(f'{rc} is asked for twice: keep one')
        # int() is slow with many digits, and refuses very many.
        _check_most(rc, len(amount.lstrip('0')) > _DIGITS)
        found[rc] = int(amount.lstrip('0') or '0')
    return found


def _checked(text: object) -> str:
    """Return what somebody wrote, without what surrounds it.

    :raises errors.InvalidName: it is no text
    """
    if not isinstance(text, str):
        raise errors.InvalidName(
            f'{error_text.excerpt(text)} is no text: give each condition as a string'
        )
    return text.strip()


def _check_most(rc: str, too_many: bool) -> None:  # noqa: FBT001
    if too_many:
        raise errors.InvalidName(
            f'{rc:.60}: no provider has that many; ask for '
            f'{inventory.MAX_INT} at most'
        )


def _listed(resources: Mapping[str, int]) -> str:
    return ','.join(f'{rc}:{amount}' for rc, amount in resources.items())
