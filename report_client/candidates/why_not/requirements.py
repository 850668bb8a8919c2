# SPDX-License-Identifier: Apache-2.0
"""A request for candidates taken apart into requirements, and put together.

Pure: no I/O, configuration, logging or clock. A requirement is the least that
can be left out: one amount, one trait, one condition on aggregates or on the
tree. ``why_not.py`` asks placement with some of them left out.
"""

import dataclasses
import enum
from collections.abc import Collection, Iterable, Iterator

from ...api import provider_query, trait_query
from .. import query
from ..query import Group, Request


class Kind(enum.Enum):
    """What a requirement is about; the values are those of data."""

    RESOURCE = 'resource'
    REQUIRED = 'required'
    ANY_OF = 'any of'
    FORBIDDEN = 'forbidden'
    MEMBER_OF = 'member of'
    NOT_MEMBER_OF = 'not member of'
    IN_TREE = 'in tree'
    ROOT_REQUIRED = 'root required'
    ROOT_FORBIDDEN = 'root forbidden'
    ISOLATE = 'isolate'
    SAME_SUBTREE = 'same subtree'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that is asked for.

    :ivar names: the class, the traits, the aggregates, the tree, or the groups
    :ivar amount: of the resource class
    :ivar group: '' for the unnamed one, and for what is of no group
    """

    kind: Kind
    names: tuple[str, ...]
    amount: int = 0
    group: str = ''

    @property
    def text(self) -> str:
        """It as one reads it, with its group."""
        some = ', '.join(self.names)
        match self.kind:
            case Kind.RESOURCE:
                said = f'{some}: {self.amount}'
            case Kind.ANY_OF:
                said = f'one of {some}'
            case Kind.MEMBER_OF:
                said = f'in aggregate {some.replace(", ", " or ")}'
            case Kind.NOT_MEMBER_OF:
                said = f'not in aggregate {some.replace(", ", " or ")}'
            case Kind.IN_TREE:
                said = f'in the tree of {some}'
            case Kind.ROOT_REQUIRED:
                said = f'{some} required of the root'
            case Kind.ROOT_FORBIDDEN:
                said = f'{some} forbidden to the root'
            case Kind.ISOLATE:
                said = f'a provider for each of the groups {some}'
            case Kind.SAME_SUBTREE:
                said = f'the groups {some} in one subtree'
            case _:
                said = f'{some} {self.kind.value}'
        return f'{said} (group {self.group})' if self.group else said


def taken_apart(request: Request) -> tuple[Requirement, ...]:
    """Return all that a request asks for, its resources first."""
    parts = [part for group in request.groups for part in _of_group(group)]
    parts += [
        Requirement(kind=kind, names=names)
        for kind, names in _of_whole(request)
    ]
    return tuple(sorted(parts, key=lambda p: p.kind is not Kind.RESOURCE))


def kept(request: Request, some: Collection[Requirement]) -> Request:
    """Return the request for these of its requirements, without a limit.

    What can only be asked together with what is left out is left out as well:
    conditions of a group without resources, groups below a tree that nobody
    asks for.

    :raises errors.ConfigError: no amount is among them
    """
    subtrees = [p.names for p in some if p.kind is Kind.SAME_SUBTREE]
    beside = {name for names in subtrees for name in names}
    groups = [_group(group.name, some) for group in request.groups]
    asked = tuple(
        group
        for group in groups
        if group.resources or (group.name in beside and group.parameters())
    )
    there = {group.name for group in asked}
    same = (tuple(n for n in names if n in there) for names in subtrees)
    return Request(
        groups=asked,
        group_policy=_policy(request, some),
        root_required=trait_query.TraitQuery(
            required=_names(some, Kind.ROOT_REQUIRED),
            forbidden=_names(some, Kind.ROOT_FORBIDDEN),
        ),
        same_subtree=tuple(names for names in same if names),
    )


def without(request: Request, some: Collection[Requirement]) -> Request | None:
    """Return the request less these requirements and what hangs on them.

    Conditions on traits, aggregates and trees are conditions on those that
    provide all resources of a group: they go with the first of these. None:
    no amount is left to ask for.
    """
    rest = left(taken_apart(request), some)
    if any(part.kind is Kind.RESOURCE for part in rest):
        return kept(request, rest)
    return None


def left(
    every: Iterable[Requirement], gone: Collection[Requirement]
) -> tuple[Requirement, ...]:
    """Return the requirements that stay where these are left out."""
    broken = {p.group for p in gone if p.kind is Kind.RESOURCE}
    return tuple(
        p
        for p in every
        if p not in gone
        and (p.kind is Kind.RESOURCE or not _hangs_on(p, broken))
    )


def _hangs_on(part: Requirement, groups: Collection[str]) -> bool:
    return part.kind in _OF_A_GROUP and part.group in groups


_OF_A_GROUP = frozenset(
    {
        Kind.REQUIRED,
        Kind.ANY_OF,
        Kind.FORBIDDEN,
        Kind.MEMBER_OF,
        Kind.NOT_MEMBER_OF,
        Kind.IN_TREE,
    }
)


def _of_group(group: Group) -> Iterator[Requirement]:
    def part(kind: Kind, *names: str, amount: int = 0) -> Requirement:
        return Requirement(
            kind=kind, names=names, amount=amount, group=group.name
        )

    for rc, amount in sorted(group.resources.items()):
        yield part(Kind.RESOURCE, rc, amount=amount)
    for name in group.traits.required:
        yield part(Kind.REQUIRED, name)
    for several in group.traits.any_of:
        yield part(Kind.ANY_OF, *several)
    for name in group.traits.forbidden:
        yield part(Kind.FORBIDDEN, name)
    for one in group.member_of:
        kind = Kind.NOT_MEMBER_OF if one.forbidden else Kind.MEMBER_OF
        yield part(kind, *one.aggregates)
    if group.in_tree:
        yield part(Kind.IN_TREE, group.in_tree)


def _of_whole(request: Request) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    """Yield what is asked beside the groups: its kind and its names."""
    for name in request.root_required.required:
        yield Kind.ROOT_REQUIRED, (name,)
    for name in request.root_required.forbidden:
        yield Kind.ROOT_FORBIDDEN, (name,)
    for some in request.same_subtree:
        yield Kind.SAME_SUBTREE, some
    if request.group_policy == query.ISOLATE:
        named = (group.name for group in request.groups if group.name)
        yield Kind.ISOLATE, tuple(named)


def _group(name: str, some: Iterable[Requirement]) -> Group:
    own = [part for part in some if part.group == name]
    trees = _names(own, Kind.IN_TREE)
    return Group(
        name=name,
        resources={
            part.names[0]: part.amount
            for part in own
            if part.kind is Kind.RESOURCE
        },
        traits=trait_query.TraitQuery(
            required=_names(own, Kind.REQUIRED),
            any_of=tuple(p.names for p in own if p.kind is Kind.ANY_OF),
            forbidden=_names(own, Kind.FORBIDDEN),
        ),
        member_of=tuple(
            provider_query.MemberOf(
                aggregates=part.names,
                forbidden=part.kind is Kind.NOT_MEMBER_OF,
            )
            for part in own
            if part.kind in {Kind.MEMBER_OF, Kind.NOT_MEMBER_OF}
        ),
        in_tree=trees[0] if trees else None,
    )


def _policy(request: Request, some: Iterable[Requirement]) -> str | None:
    """Return the policy; it is never left out, for several groups need one."""
    if any(part.kind is Kind.ISOLATE for part in some):
        return query.ISOLATE
    return query.TOGETHER if request.group_policy else None


def _names(some: Iterable[Requirement], kind: Kind) -> tuple[str, ...]:
    return tuple(p.names[0] for p in some if p.kind is kind)
