# SPDX-License-Identifier: Apache-2.0
"""Split a request into requirements, and rebuild it from some of them.

Pure: no I/O, configuration, logging or clock. A requirement is the smallest
part that can be left out: one amount, one trait, one condition on aggregates
or on the tree. ``why_not/search.py`` asks placement with some of them left
out.
"""

import dataclasses
import enum
from collections.abc import Collection, Iterable, Iterator

from ...api.values import provider_query, trait_query
from . import query
from .query import Group, Request


class Kind(enum.Enum):
    """The sorts of requirement; the values appear in JSON and YAML output."""

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
    """One requirement of a request.

    :ivar names: the resource class, the traits, the uuids of the aggregates or
        of the tree, or the groups' names
    :ivar amount: the amount of the resource class, else 0
    :ivar group: the group's name; '' for the unnamed group, and for a
        requirement of the whole request
    """

    kind: Kind
    names: tuple[str, ...]
    amount: int = 0
    group: str = ''

    @property
    def text(self) -> str:
        """The requirement as text, with its group."""
        names = ', '.join(self.names)
        match self.kind:
            case Kind.RESOURCE:
                text = f'{names}: {self.amount}'
            case Kind.ANY_OF:
                text = f'one of {names}'
            case Kind.MEMBER_OF:
                text = f'in aggregate {names.replace(", ", " or ")}'
            case Kind.NOT_MEMBER_OF:
                text = f'not in aggregate {names.replace(", ", " or ")}'
            case Kind.IN_TREE:
                text = f'in the tree of {names}'
            case Kind.ROOT_REQUIRED:
                text = f'{names} required of the root'
            case Kind.ROOT_FORBIDDEN:
                text = f'{names} forbidden to the root'
            case Kind.ISOLATE:
                text = f'a provider for each of the groups {names}'
            case Kind.SAME_SUBTREE:
                text = f'the groups {names} in one subtree'
            case _:
                text = f'{names} {self.kind.value}'
        return f'{text} (group {self.group})' if self.group else text


def split(request: Request) -> tuple[Requirement, ...]:
    """Return all requirements of a request, the amounts first."""
    parts = [part for group in request.groups for part in _of_group(group)]
    parts += [
        Requirement(kind=kind, names=names)
        for kind, names in _of_whole(request)
    ]
    return tuple(sorted(parts, key=lambda p: p.kind is not Kind.RESOURCE))


def restricted_to(request: Request, parts: Collection[Requirement]) -> Request:
    """Return the request with only these requirements, and without a limit.

    Placement refuses conditions of a group without resources, unless the group
    is in a ``same_subtree``, and groups in a ``same_subtree`` that ask for
    nothing. ``without`` omits both of them as well.

    :raises errors.ConfigError: the requirements include no amount
    """
    subtrees = [p.names for p in parts if p.kind is Kind.SAME_SUBTREE]
    in_subtree = {name for names in subtrees for name in names}
    groups = [_group(group.name, parts) for group in request.groups]
    asked = tuple(
        group
        for group in groups
        if group.resources or (group.name in in_subtree and group.parameters())
    )
    asked_names = {group.name for group in asked}
    same_subtree = (
        tuple(name for name in names if name in asked_names)
        for names in subtrees
    )
    return Request(
        groups=asked,
        group_policy=_policy(request, parts),
        root_required=trait_query.TraitQuery(
            required=_names(parts, Kind.ROOT_REQUIRED),
            forbidden=_names(parts, Kind.ROOT_FORBIDDEN),
        ),
        same_subtree=tuple(names for names in same_subtree if names),
    )


def without(
    request: Request, omitted: Collection[Requirement]
) -> Request | None:
    """Return the request without these and the requirements depending on them.

    Conditions on traits, aggregates and trees apply to the providers that
    provide all resources of a group. They are omitted as soon as one amount of
    their group is.

    :return: None if no amount remains
    """
    rest = remaining(split(request), omitted)
    if any(part.kind is Kind.RESOURCE for part in rest):
        return restricted_to(request, rest)
    return None


def remaining(
    parts: Iterable[Requirement], omitted: Collection[Requirement]
) -> tuple[Requirement, ...]:
    """Return the requirements that remain if these are omitted."""
    broken = {p.group for p in omitted if p.kind is Kind.RESOURCE}
    return tuple(
        part
        for part in parts
        if part not in omitted
        and (part.kind is Kind.RESOURCE or not _depends_on(part, broken))
    )


def _depends_on(part: Requirement, groups: Collection[str]) -> bool:
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
    for member_of in group.member_of:
        kind = Kind.NOT_MEMBER_OF if member_of.forbidden else Kind.MEMBER_OF
        yield part(kind, *member_of.aggregates)
    if group.in_tree:
        yield part(Kind.IN_TREE, group.in_tree)


def _of_whole(request: Request) -> Iterator[tuple[Kind, tuple[str, ...]]]:
    """Yield kind and names of each requirement of the whole request."""
    for name in request.root_required.required:
        yield Kind.ROOT_REQUIRED, (name,)
    for name in request.root_required.forbidden:
        yield Kind.ROOT_FORBIDDEN, (name,)
    for groups in request.same_subtree:
        yield Kind.SAME_SUBTREE, groups
    if request.group_policy == query.ISOLATE:
        named = (group.name for group in request.groups if group.name)
        yield Kind.ISOLATE, tuple(named)


def _group(name: str, parts: Iterable[Requirement]) -> Group:
    own = [part for part in parts if part.group == name]
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


def _policy(request: Request, parts: Iterable[Requirement]) -> str | None:
    """Return the policy; if the request has one, several groups may need it."""
    if any(part.kind is Kind.ISOLATE for part in parts):
        return query.ISOLATE
    return query.TOGETHER if request.group_policy else None


def _names(parts: Iterable[Requirement], kind: Kind) -> tuple[str, ...]:
    return tuple(part.names[0] for part in parts if part.kind is kind)
