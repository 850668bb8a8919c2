# SPDX-License-Identifier: Apache-2.0
"""Requests that tell what a cut answer would not: narrowed, or with more ways.

Pure: no I/O, configuration, logging or clock. Placement can be told to stop
after so many ways to meet a request (``[placement] max_allocation_candidates``
of its configuration), so that trees are missing that would do as well.
"""

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from compute_agent.tree import names

from .. import answer, query
from ..query import Group, Request, TraitQuery
from . import neighbourhood

# One way that is wanted shows enough; these are for answers to come.
_WAYS = 1000
_TRAITS = 40  # in one path
_CLASSES = 4


def to_tree(request: Request, root: str) -> Request:
    """Return the request for what a single tree gives all of.

    Where nothing is shared with a tree, nor by it, it is a candidate for this
    exactly if it is one for the request; and if so, every way shows it.

    :param root: the uuid of a provider of the tree
    """
    return dataclasses.replace(
        request,
        groups=tuple(
            dataclasses.replace(group, in_tree=group.in_tree or root)
            for group in request.groups
        ),
    )


def wider(
    request: Request, answer: answer.Answer, near: neighbourhood.Vicinity
) -> Iterator[Request]:
    """Yield requests that should have more ways to be met than this one.

    The same, and the least of each class that is shared or could be; each asks
    in addition for somebody with a common trait, or who shares. Nothing of it
    is used, so each way comes once for each of these. A placement that has
    more ways for one of them does not stop at fewer.
    """
    ways = max(len(answer.allocations) + 1, _WAYS)
    traits = _traits(answer, near)
    yield _widened(request, traits, ways)
    for rc, amount in itertools.islice(_least(near), _CLASSES):
        yield _widened(Request.of(Group(resources={rc: amount})), traits, ways)


def _widened(request: Request, traits: Sequence[str], ways: int) -> Request:
    taken = {group.name for group in request.groups}
    name = '_MORE'
    while name in taken:
        name += '_'
    anybody = Group(name=name, traits=TraitQuery(any_of=(tuple(traits),)))
    return dataclasses.replace(
        request,
        groups=(*request.groups, anybody),
        group_policy=query.TOGETHER,
        same_subtree=(*request.same_subtree, (name,)),
        limit=ways,
    )


def _traits(answer: answer.Answer, near: neighbourhood.Vicinity) -> list[str]:
    """Return the trait that sharing needs, and of each root the commonest."""
    every = answer.summaries.values()
    roots = [one.traits for one in every if one.uuid == one.root_uuid]
    roots.append(near.root.traits)
    count = collections.Counter(name for traits in roots for name in traits)
    some = collections.Counter(
        max(traits, key=lambda name: (count[name], name))
        for traits in roots
        if traits
    )
    few = [name for name, _ in some.most_common(_TRAITS)]
    return list(dict.fromkeys([names.MISC_SHARES_VIA_AGGREGATE, *few]))


def _least(near: neighbourhood.Vicinity) -> Iterator[tuple[str, int]]:
    """Yield how little of a class there can be, of what is shared first."""
    done = set()
    for one in sorted(near.near, key=lambda one: not one.shares):
        for rc, record in sorted(one.inventories.items()):
            if rc not in done and one.gives(rc, record.min_unit):
                done.add(rc)
                yield rc, record.min_unit
