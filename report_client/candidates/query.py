# SPDX-License-Identifier: Apache-2.0
"""What is asked of allocation candidates, as a value and as the query.

Pure: no I/O, configuration, logging or clock. The group without a name may be
met by several providers of a tree together with those that share with it; each
named one (``resources1``, ``required_NET``) by a single provider. What
placement would answer with 400, or silently with nothing, is refused here.
"""

import dataclasses
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Self, TypeVar

import os_resource_classes

from compute_agent import errors, extra_specs
from compute_agent.tree import inventory, names

from ..api import provider_query, trait_names, trait_query
from ..http import codec

CANDIDATES = '/allocation_candidates'
TOGETHER, ISOLATE = POLICIES = ('none', 'isolate')

_NUMBER = re.compile(r'[1-9][0-9]*')
_AS_THEY_ARE = ':,!'

TraitQuery = trait_query.TraitQuery

_Thing = TypeVar('_Thing')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A part of a request: amounts, and conditions on who provides them.

    :ivar name: the suffix of its parameters, '' for the group without one
    :ivar resources: resource class → amount
    :ivar in_tree: the uuid of any provider of the tree that is meant
    :raises errors.InvalidName: on construction, a name, uuid or amount is none
    """

    name: str = ''
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    traits: TraitQuery = dataclasses.field(default_factory=TraitQuery)
    member_of: tuple[provider_query.MemberOf, ...] = ()
    in_tree: str | None = None

    def __post_init__(self) -> None:
        extra_specs.check_group(self.name)
        provider_query.check_member_of(self.member_of)
        for rc, amount in self.resources.items():
            check_class(rc)
            if not 1 <= amount <= inventory.MAX_INT:
                raise errors.InvalidName(
                    f'{rc}: an amount of {amount} is none; ask for 1 to '
                    f'{inventory.MAX_INT}'
                )
        if self.in_tree is not None:
            uuid = names.check_uuid(self.in_tree, 'tree')
            object.__setattr__(self, 'in_tree', uuid)

    @property
    def called(self) -> str:
        """How it is called in messages."""
        return f'group {self.name}' if self.name else 'the unnamed group'

    def parameters(self) -> list[tuple[str, str]]:
        """Return its parameters as placement takes them."""
        some = sorted(self.resources.items())
        pairs = [
            ('resources', ','.join(f'{rc}:{amount}' for rc, amount in some)),
            *(('required', value) for value in self.traits.parameters()),
            *(('member_of', str(one)) for one in self.member_of),
            ('in_tree', self.in_tree or ''),
        ]
        return [(f'{key}{self.name}', value) for key, value in pairs if value]

    def joined(self, other: 'Group') -> 'Group':
        """Return the group that asks for what both ask for.

        :raises errors.ConfigError: they ask for different things
        """
        for rc in self.resources.keys() & other.resources.keys():
            one, two = self.resources[rc], other.resources[rc]
            _check_one(f'{rc} in {self.called}', str(one), str(two))
        if self.in_tree and other.in_tree:
            what = f'the tree of {self.called}'
            _check_one(what, self.in_tree, other.in_tree)
        ours, theirs = self.traits, other.traits
        return Group(
            name=self.name,
            resources={**self.resources, **other.resources},
            traits=TraitQuery(
                required=_unique((*ours.required, *theirs.required)),
                any_of=_unique((*ours.any_of, *theirs.any_of)),
                forbidden=_unique((*ours.forbidden, *theirs.forbidden)),
            ),
            member_of=_unique((*self.member_of, *other.member_of)),
            in_tree=self.in_tree or other.in_tree,
        )


def check_class(name: str) -> str:
    """Return the name of a resource class.

    :raises errors.InvalidName: it is outside the grammar, with the name that
        may be meant
    """
    try:
        return names.check_symbol(name, 'resource class')
    except errors.InvalidName as exc:
        near = trait_names.nearest(name, os_resource_classes.STANDARDS)
        hint = f'; did you mean {near}?' if near else ''
        raise errors.InvalidName(f'{exc}{hint}') from None


def merged(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return each group once: those of one name ask for all of theirs.

    :raises errors.ConfigError: two of one name ask for different things
    """
    found: dict[str, Group] = {}
    for group in groups:
        known = found.get(group.name)
        found[group.name] = known.joined(group) if known else group
    return tuple(found[name] for name in sorted(found))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that is asked of allocation candidates.

    :ivar groups: each name once
    :ivar group_policy: whether one provider may meet several named groups
        (``none``) or not (``isolate``)
    :ivar limit: how many allocation requests to answer, None for all
    :ivar root_required: a condition on the root of the tree; it has no any-of
    :ivar same_subtree: names of groups whose providers stand below one of them
    :raises errors.ConfigError: on construction, placement would refuse it
    """

    groups: tuple[Group, ...]
    group_policy: str | None = None
    limit: int | None = None
    root_required: TraitQuery = dataclasses.field(default_factory=TraitQuery)
    same_subtree: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise errors.ConfigError(f'limit {self.limit}: ask for 1 or more')
        if self.root_required.any_of:
            raise errors.ConfigError(
                'placement takes no "in:" for the root: require one trait'
            )
        self._check_subtrees()
        self._check_resources()
        self._check_policy()

    @classmethod
    def of(cls, *groups: Group) -> Self:
        """Return the request for these groups."""
        return cls(groups=merged(groups))

    @property
    def least_version(self) -> codec.Version:
        """The microversion that placement needs for it.

        1.25 has named groups, 1.31 ``in_tree``, 1.32 forbidden aggregates,
        1.33 names that are no numbers, 1.35 ``root_required``, 1.36
        ``same_subtree``; traits have their own.
        """
        least = max((codec.OLDEST, *(_least(group) for group in self.groups)))
        if self.root_required:
            least = max(least, (1, 35))
        return max(least, (1, 36)) if self.same_subtree else least

    @property
    def amounts(self) -> dict[str, Mapping[str, int]]:
        """The amounts: group → resource class → amount."""
        return {group.name: group.resources for group in self.groups}

    def path(self) -> str:
        """Return the path, with the query, that asks placement for it."""
        query = urllib.parse.urlencode(self.parameters(), safe=_AS_THEY_ARE)
        return f'{CANDIDATES}?{query}'

    def parameters(self) -> list[tuple[str, str]]:
        """Return all parameters as placement takes them."""
        whole = [
            ('group_policy', self.group_policy),
            *(('root_required', v) for v in self.root_required.parameters()),
            *(('same_subtree', ','.join(some)) for some in self.same_subtree),
            ('limit', str(self.limit or '')),
        ]
        return [
            *(pair for group in self.groups for pair in group.parameters()),
            *((key, value) for key, value in whole if value),
        ]

    def _check_subtrees(self) -> None:
        known = {group.name for group in self.groups if group.parameters()}
        for name in (name for some in self.same_subtree for name in some):
            if not name:
                raise errors.ConfigError(
                    'the unnamed group cannot be in same_subtree: it may be '
                    'met by several providers'
                )
            if name not in known:
                raise errors.ConfigError(
                    f'same_subtree names group {name}, which asks for nothing'
                )

    def _check_resources(self) -> None:
        """Refuse a group that no provider could be found for.

        :raises errors.ConfigError: it asks for no resources
        """
        if not any(group.resources for group in self.groups):
            raise errors.ConfigError(
                'no resources are asked for: say for example resources:VCPU=1'
            )
        beside = {name for some in self.same_subtree for name in some}
        for group in self.groups:
            if not group.resources and group.name not in beside:
                asked = [f'{k}={v}' for k, v in group.parameters()]
                raise errors.ConfigError(
                    f'{group.called} asks for no resources'
                    f'{", only for " if asked else ""}{" and ".join(asked)}: '
                    f'add resources{group.name}:RC=AMOUNT'
                )

    def _check_policy(self) -> None:
        if self.group_policy not in (None, *POLICIES):
            raise errors.ConfigError(
                f'group_policy={self.group_policy}: write '
                f'{" or ".join(POLICIES)} after the "="'
            )
        several = [group.name for group in self.groups if group.name]
        if len(several) > 1 and self.group_policy is None:
            raise errors.ConfigError(
                f'there are the groups {", ".join(several)}, and placement '
                'must know whether one provider may meet several of them: add '
                f'group_policy=none if so, group_policy={ISOLATE} if not'
            )


def _least(group: Group) -> codec.Version:
    least = group.traits.least_version
    if group.in_tree:
        least = max(least, (1, 31))
    if any(one.forbidden for one in group.member_of):
        least = max(least, (1, 32))
    numbered = not group.name or _NUMBER.fullmatch(group.name)
    return least if numbered else max(least, (1, 33))


def _check_one(what: str, one: str, two: str) -> None:
    if one != two:
        raise errors.ConfigError(
            f'{what} is asked for as {one} and as {two}: keep one'
        )


def _unique(things: Iterable[_Thing]) -> tuple[_Thing, ...]:
    return tuple(dict.fromkeys(things))
