# SPDX-License-Identifier: Apache-2.0
"""Requests that show if an answer was cut: for one tree, or with more ways.

Pure: no I/O, configuration, logging or clock. An operator can tell placement
to stop after a number of ways to meet a request (``[placement]
max_allocation_candidates`` of its configuration). Trees that would fit as well
are then missing from the answer.
"""

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from compute_agent.tree import names

from .. import answer, query
from ..query import Group, Request, TraitQuery
from . import neighbourhood

# One way more than before is enough evidence; the least limit is larger, so
# that the same request also judges later answers.
_WAYS = 1000
_TRAITS = 40  # in one path
_CLASSES = 4


def limited_to_tree(request: Request, root: str) -> Request:
    """Return the request, limited to candidates from one tree.

    All resources of these candidates come from the tree. Use it only for a
    tree that shares nothing, and with which no provider shares: the tree is a
    candidate for this request exactly if it is one for the original request.
    Every way in the answer then uses the tree.

    :param root: the uuid of a provider of the tree
    """
    return dataclasses.replace(
        request,
        groups=tuple(
            dataclasses.replace(group, in_tree=group.in_tree or root)
            for group in request.groups
        ),
    )


def with_more_ways(
    request: Request, found: answer.Answer, near: neighbourhood.Neighbourhood
) -> Iterator[Request]:
    """Yield requests that placement can meet in more ways than this one.

    The first is the same request; the others ask for the smallest amount of
    each class that is, or could be, shared. Each also asks for a provider that
    has a common trait or shares, without using any of its inventory, so that
    the answer has each way once for each such provider. If the answer to one
    of them has more ways, placement does not stop at fewer ways.

    :param found: placement's answer to the request
    """
    ways = max(len(found.allocations) + 1, _WAYS)
    traits = _traits(found, near)
    yield _multiplied(request, traits, ways)
    for rc, amount in itertools.islice(_smallest_amounts(near), _CLASSES):
        smallest = Request.of(Group(resources={rc: amount}))
        yield _multiplied(smallest, traits, ways)


def _multiplied(request: Request, traits: Sequence[str], ways: int) -> Request:
    taken = {group.name for group in request.groups}
    name = '_MORE'
    while name in taken:
        name += '_'
    any_provider = Group(name=name, traits=TraitQuery(any_of=(tuple(traits),)))
    return dataclasses.replace(
        request,
        groups=(*request.groups, any_provider),
        group_policy=query.TOGETHER,
        same_subtree=(*request.same_subtree, (name,)),
        limit=ways,
    )


def _traits(
    found: answer.Answer, near: neighbourhood.Neighbourhood
) -> list[str]:
    """Return the trait that sharing needs, and each root's commonest trait."""
    summaries = found.summaries.values()
    roots = [s.traits for s in summaries if s.uuid == s.root_uuid]
    roots.append(near.root.traits)
    count = collections.Counter(name for traits in roots for name in traits)
    commonest = collections.Counter(
        max(traits, key=lambda name: (count[name], name))
        for traits in roots
        if traits
    )
    few = [name for name, _ in commonest.most_common(_TRAITS)]
    return list(dict.fromkeys([names.MISC_SHARES_VIA_AGGREGATE, *few]))


def _smallest_amounts(
    near: neighbourhood.Neighbourhood,
) -> Iterator[tuple[str, int]]:
    """Yield each class with its smallest amount, shared classes first."""
    done = set()
    for provider in sorted(near.providers, key=lambda p: not p.shares):
        for rc, record in sorted(provider.inventories.items()):
            if rc not in done and provider.can_provide(rc, record.min_unit):
                done.add(rc)
                yield rc, record.min_unit
