# SPDX-License-Identifier: Apache-2.0
"""A request for allocation candidates, as a value and as a query string.

Pure: no I/O, configuration, logging or clock. Several providers of a tree,
and those that share with it, may meet the unnamed group together. A single
provider must meet each named group (``resources1``, ``required_NET``). A
request that placement would answer with 400, or with an empty list because it
contradicts itself, is refused here.
"""

import dataclasses
import itertools
import re
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Self, TypeVar

import os_resource_classes

from compute_agent import errors, extra_specs
from compute_agent.tree import inventory, names

from ...api.values import provider_query, trait_names, trait_query
from ...http.messages import codec

CANDIDATES = '/allocation_candidates'
TOGETHER, ISOLATE = POLICIES = ('none', 'isolate')

_NUMBER = re.compile(r'[1-9][0-9]*')
_UNQUOTED = ':,!'  # characters that are sent as they are

TraitQuery = trait_query.TraitQuery

_Value = TypeVar('_Value')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A part of a request: amounts, and conditions on their providers.

    :ivar name: the suffix of its parameters, '' for the unnamed group
    :ivar resources: resource class → amount
    :ivar in_tree: the uuid of any provider of the tree
    :raises errors.InvalidName: on construction, a name, uuid or amount is
        invalid
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
                    f'{rc}: {amount} is not a valid amount; ask for 1 to '
                    f'{inventory.MAX_INT}'
                )
        if self.in_tree is not None:
            uuid = names.check_uuid(self.in_tree, 'tree')
            object.__setattr__(self, 'in_tree', uuid)

    @property
    def label(self) -> str:
        """The group's name in messages."""
        return f'group {self.name}' if self.name else 'the unnamed group'

    def parameters(self) -> list[tuple[str, str]]:
        """Return the group's query parameters."""
        amounts = sorted(self.resources.items())
        pairs = [
            (
                'resources',
                ','.join(f'{rc}:{amount}' for rc, amount in amounts),
            ),
            *(('required', value) for value in self.traits.parameters()),
            *(('member_of', str(member)) for member in self.member_of),
            ('in_tree', self.in_tree or ''),
        ]
        return [(f'{key}{self.name}', value) for key, value in pairs if value]

    def merge(self, other: 'Group') -> 'Group':
        """Return the group with the requirements of both.

        :raises errors.ConfigError: the two groups contradict each other
        """
        for rc in self.resources.keys() & other.resources.keys():
            first, second = self.resources[rc], other.resources[rc]
            _check_equal(f'{rc} in {self.label}', str(first), str(second))
        if self.in_tree and other.in_tree:
            subject = f'the tree of {self.label}'
            _check_equal(subject, self.in_tree, other.in_tree)
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
    """Return the name of a resource class, if it is in the grammar.

    :raises errors.InvalidName: the name is outside the grammar; the message
        suggests a name
    """
    try:
        return names.check_symbol(name, 'resource class')
    except errors.InvalidName as exc:
        near = trait_names.nearest(name, os_resource_classes.STANDARDS)
        hint = f'; did you mean {near}?' if near else ''
        raise errors.InvalidName(f'{exc}{hint}') from None


def merge_groups(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return each group once, with groups of the same name merged.

    :raises errors.ConfigError: two groups of one name contradict each other
    """
    found: dict[str, Group] = {}
    for group in groups:
        known = found.get(group.name)
        found[group.name] = known.merge(group) if known else group
    return tuple(found[name] for name in sorted(found))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for allocation candidates.

    :ivar groups: each name once
    :ivar group_policy: ``none`` if one provider may meet several named groups,
        ``isolate`` if not; placement needs it for two or more
    :ivar limit: the greatest number of allocation requests in the answer, None
        for all
    :ivar root_required: a condition on the root of the tree, without any-of
    :ivar same_subtree: sets of named groups; the providers of each set must be
        one provider and its descendants
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
                'placement takes no "in:" for the root: require single traits'
            )
        self._check_subtrees()
        self._check_resources()
        self._check_policy()

    @classmethod
    def of(cls, *groups: Group) -> Self:
        """Return the request for these groups, merged by name."""
        return cls(groups=merge_groups(groups))

    @property
    def least_version(self) -> codec.Version:
        """The oldest microversion that can express this request.

        1.25 has named groups, 1.31 ``in_tree``, 1.32 forbidden aggregates,
        1.33 names that are not numbers, 1.35 ``root_required``, 1.36
        ``same_subtree``; ``TraitQuery`` has
        those of traits.
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
        """Return the request's path with its query string."""
        query = urllib.parse.urlencode(self.parameters(), safe=_UNQUOTED)
        return f'{CANDIDATES}?{query}'

    def parameters(self) -> list[tuple[str, str]]:
        """Return all query parameters."""
        whole = [
            ('group_policy', self.group_policy),
            *(('root_required', v) for v in self.root_required.parameters()),
            *(
                ('same_subtree', ','.join(groups))
                for groups in self.same_subtree
            ),
            ('limit', str(self.limit or '')),
        ]
        return [
            *(pair for group in self.groups for pair in group.parameters()),
            *((key, value) for key, value in whole if value),
        ]

    def _check_subtrees(self) -> None:
        known = {group.name for group in self.groups if group.parameters()}
        for name in itertools.chain.from_iterable(self.same_subtree):
            if not name:
                raise errors.ConfigError(
                    'the unnamed group cannot be in same_subtree, because '
                    'several providers may meet it: name a group'
                )
            if name not in known:
                raise errors.ConfigError(
                    f'same_subtree names group {name}, which asks for nothing'
                )

    def _check_resources(self) -> None:
        """Refuse a group without resources, unless it is in a same_subtree.

        :raises errors.ConfigError: a group asks for no resources
        """
        if not any(group.resources for group in self.groups):
            raise errors.ConfigError(
                'the request asks for no resources: add for example '
                'resources:VCPU=1'
            )
        in_subtree = set(itertools.chain.from_iterable(self.same_subtree))
        for group in self.groups:
            if not group.resources and group.name not in in_subtree:
                asked = [f'{k}={v}' for k, v in group.parameters()]
                raise errors.ConfigError(
                    f'{group.label} asks for no resources'
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
                f'the groups {", ".join(several)} have no policy: add '
                f'group_policy={TOGETHER} if one provider may meet several of '
                f'them, group_policy={ISOLATE} if not'
            )


def _least(group: Group) -> codec.Version:
    least = group.traits.least_version
    if group.in_tree:
        least = max(least, (1, 31))
    if any(member.forbidden for member in group.member_of):
        least = max(least, (1, 32))
    numbered = not group.name or _NUMBER.fullmatch(group.name)
    return least if numbered else max(least, (1, 33))


def _check_equal(subject: str, first: str, second: str) -> None:
    if first != second:
        raise errors.ConfigError(
            f'{subject} is asked for as {first} and as {second}: keep one'
        )


def _unique(values: Iterable[_Value]) -> tuple[_Value, ...]:
    return tuple(dict.fromkeys(values))
