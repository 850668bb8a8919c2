# SPDX-License-Identifier: Apache-2.0
"""The query of ``GET /resource_providers`` as a value.

Pure: no I/O, configuration, logging or clock. A provider must meet all
conditions by itself. Conditions that span several providers, groups and
sharing belong to allocation candidates (``candidates/values/query.py``). A query is
parsed from a person's input, checked, and formatted for placement.
"""

import dataclasses
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Self

from compute_agent import error_text, errors
from compute_agent.tree import inventory, names

from ...http.messages import codec, paths
from . import trait_query

ANY_OF = trait_query.ANY_OF
NOT = trait_query.NOT
_UNQUOTED = ':,!/'  # characters that are sent as they are
_DIGITS = len(str(inventory.MAX_INT))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MemberOf:
    """A condition on aggregates: member of any of these, or of none of them.

    :ivar aggregates: uuids
    :ivar forbidden: True for "member of none of them"
    :raises errors.InvalidName: on construction, an aggregate is not a uuid
    """

    aggregates: tuple[str, ...]
    forbidden: bool = False

    def __post_init__(self) -> None:
        checked = [
            names.check_uuid(uuid, 'aggregate')
            for uuid in names.check_collection(self.aggregates)
        ]
        object.__setattr__(self, 'aggregates', tuple(dict.fromkeys(checked)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the condition of one ``--member-of`` option.

        :param text: ``UUID``, ``in:UUID,UUID``, and each with ``!`` before it
        :raises errors.InvalidName: the text has another form
        """
        text = _checked(text)
        bare = text.removeprefix(NOT)
        uuids = [bare]
        if bare.startswith(ANY_OF):
            listed = bare.removeprefix(ANY_OF).split(',')
            uuids = [uuid.strip() for uuid in listed]
        elif ',' in bare:
            raise errors.InvalidName(
                f'{error_text.excerpt(text)} has several aggregates: write {ANY_OF} before them '
                'to match any of them, or give each a separate option to '
                'match all'
            )
        return cls(aggregates=tuple(uuids), forbidden=text.startswith(NOT))

    @classmethod
    def of_option(cls, text: str, *, forbidden: bool = False) -> Self:
        """Return the condition of one option ``--member-of UUID[,UUID]``.

        :param forbidden: the option is ``--not-member-of``
        :raises errors.InvalidName: it is malformed
        """
        text = _checked(text)
        if text.startswith(NOT):
            raise errors.InvalidName(
                f'{error_text.excerpt(text)}: write --not-member-of for '
                'aggregates that no provider may be in'
            )
        if text.startswith(ANY_OF):
            raise errors.InvalidName(
                f'{error_text.excerpt(text)}: leave "{ANY_OF}" out; commas '
                'between aggregates mean that one of them is enough'
            )
        uuids = tuple(uuid.strip() for uuid in text.split(','))
        return cls(aggregates=uuids, forbidden=forbidden)

    def __str__(self) -> str:
        several = ANY_OF if len(self.aggregates) > 1 else ''
        uuids = ','.join(self.aggregates)
        return f'{NOT if self.forbidden else ""}{several}{uuids}'


def check_member_of(conditions: Iterable[MemberOf]) -> None:
    """Refuse conditions on aggregates that no provider can meet together.

    :raises errors.InvalidName: one condition requires aggregates that others
        forbid, all of them
    """
    members = tuple(conditions)
    forbidden = {uuid for m in members if m.forbidden for uuid in m.aggregates}
    for member in members:
        if not member.forbidden and forbidden.issuperset(member.aggregates):
            raise errors.InvalidName(
                f'aggregate {" and ".join(member.aggregates)} cannot be asked '
                'for and forbidden at once'
            )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProviderQuery:
    """The conditions on a provider; every provider meets an empty query.

    :ivar resources: resource class → amount that must be free
    :ivar in_tree: the uuid of any provider of the tree
    :raises errors.InvalidName: on construction, a name, uuid or amount is
        invalid
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
                    f'{rc}: {amount} is not a valid amount; ask for 1 or more'
                )
            _check_most(rc, amount > inventory.MAX_INT)
        for field, noun in (('in_tree', 'tree'), ('uuid', 'provider')):
            if getattr(self, field) is not None:
                uuid = names.check_uuid(getattr(self, field), noun)
                object.__setattr__(self, field, uuid)
        if self.name is not None:
            names.check_provider_name(self.name)

    @property
    def least_version(self) -> codec.Version:
        """The oldest microversion that can express this query.

        1.4 has ``resources``, 1.14 ``in_tree``, 1.18 ``required``, 1.24
        repeated ``member_of``, 1.32 ``!`` in it; ``TraitQuery`` has
        those of traits.
        """
        least = codec.OLDEST
        if any(member.forbidden for member in self.member_of):
            least = max(least, (1, 32))
        return max(least, self.traits.least_version)

    def path(self) -> str:
        """Return the path with its query string."""
        pairs = [
            *(('required', value) for value in self.traits.parameters()),
            *(('member_of', str(member)) for member in self.member_of),
            ('resources', _amounts(self.resources)),
            ('in_tree', self.in_tree),
            ('name', self.name),
            ('uuid', self.uuid),
        ]
        query = urllib.parse.urlencode(
            [(key, value) for key, value in pairs if value],
            safe=_UNQUOTED,
        )
        return f'{paths.PROVIDERS}?{query}' if query else paths.PROVIDERS


def parse_resources(texts: Iterable[str]) -> dict[str, int]:
    """Return resource class → amount from ``--resource`` options.

    :param texts: each ``RC=AMOUNT`` or ``RC:AMOUNT``, or several with commas between them
    :raises errors.InvalidName: a term has another form, or a class comes twice
    """
    found: dict[str, int] = {}
    checked = [_checked(text) for text in names.check_collection(texts)]
    for term in (part.strip() for text in checked for part in text.split(',')):
        rc, _, amount = term.replace('=', ':', 1).partition(':')
        if not amount.isascii() or not amount.isdigit():
            raise errors.InvalidName(
                f'{error_text.excerpt(term)} is not an amount of a resource class: write for '
                'example VCPU=2'
            )
        if rc in found:
            raise errors.InvalidName(f'{rc} is asked for twice: keep one')
        # int() is slow for many digits, and raises for very many.
        _check_most(rc, len(amount.lstrip('0')) > _DIGITS)
        found[rc] = int(amount.lstrip('0') or '0')
    return found


def _checked(text: object) -> str:
    """Return a person's input without surrounding whitespace.

    :raises errors.InvalidName: it is not a string
    """
    if not isinstance(text, str):
        raise errors.InvalidName(
            f'{error_text.excerpt(text)} is not a string: give each condition as a string'
        )
    return text.strip()


def _check_most(rc: str, too_many: bool) -> None:  # noqa: FBT001
    if too_many:
        raise errors.InvalidName(
            f'{rc:.60}: the amount is too large; ask for at most '
            f'{inventory.MAX_INT}'
        )


def _amounts(resources: Mapping[str, int]) -> str:
    return ','.join(f'{rc}:{amount}' for rc, amount in resources.items())
