# SPDX-License-Identifier: Apache-2.0
"""Conditions that certainly fail, judged without asking placement.

Pure: no I/O, configuration, logging or clock. Placement cannot be asked about
a condition on an amount that is not available. The facts of the neighbourhood
still tell if such a condition fails for every provider that could provide the
amount.
"""

from collections.abc import Callable, Iterable, Mapping

from .neighbourhood import NearProvider, Neighbourhood
from .requirements import Kind, Requirement


def certainly_fails(
    condition: Requirement, near: Neighbourhood, amounts: Mapping[str, int]
) -> bool:
    """Return True if a condition would fail even with the amounts available.

    :param amounts: the amounts that the condition's group asks for, by
        resource class
    """
    if near.shares:
        # The tree may provide part of another tree's candidate, and too
        # little is known of that tree here.
        return False
    names = condition.names
    if condition.kind in _OF_ROOT:
        return _OF_ROOT[condition.kind](names, near)
    by_class = [near.having(rc) for rc in amounts]
    if condition.kind in _ONE_MUST_HAVE:
        able = [p for few in by_class for p in few] or near.providers
        return bool(amounts) and not any(p.has_any(names) for p in able)
    fails = _ALL_MUST_MEET.get(condition.kind)
    return fails is not None and any(
        able and all(fails(p, near.root, names) for p in able)
        for able in by_class
    )


# At least one of the providers that provide an amount must have a trait.
_ONE_MUST_HAVE = frozenset({Kind.REQUIRED, Kind.ANY_OF})

# Each provider that provides an amount must meet these. The functions return
# True if a provider fails; the second argument is the root of the tree.
_ALL_MUST_MEET: dict[
    Kind, Callable[[NearProvider, NearProvider, Iterable[str]], bool]
] = {
    Kind.FORBIDDEN: lambda p, _, names: p.has_any(names),
    Kind.MEMBER_OF: lambda p, root, names: (
        not (p.is_in(names) or root.is_in(names))
    ),
    Kind.NOT_MEMBER_OF: lambda p, _, names: p.is_in(names),
}

_OF_ROOT: dict[Kind, Callable[[Iterable[str], Neighbourhood], bool]] = {
    Kind.IN_TREE: lambda names, near: near.uuids.isdisjoint(names),
    Kind.ROOT_REQUIRED: lambda names, near: not near.root.has_any(names),
    Kind.ROOT_FORBIDDEN: lambda names, near: near.root.has_any(names),
}
