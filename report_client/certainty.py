# SPDX-License-Identifier: Apache-2.0
"""Which conditions a tree fails in any case, whatever amounts it has.

Pure: no I/O, configuration, logging or clock. Where an amount cannot be had,
no answer of placement tells about the conditions that hang on it. Of these it
is said here what fails for everybody who has the resource class at all.
"""

from collections.abc import Callable, Iterable, Mapping

from .requirements import Kind, Requirement
from .vicinity import Standing, Vicinity


def is_certain(
    part: Requirement, near: Vicinity, amounts: Mapping[str, int]
) -> bool:
    """Whether a condition fails though the amounts could be had.

    :param amounts: what its group asks for, by resource class
    """
    if near.shares:
        # It may be part of another tree's candidate, of which too little is
        # known here.
        return False
    if part.kind in _OF_ROOT:
        return _OF_ROOT[part.kind](part.names, near)
    having = [near.having(rc) for rc in amounts]
    if part.kind in _OF_ONE:
        some = [one for few in having for one in few] or near.near
        return bool(amounts) and not any(o.has_any(part.names) for o in some)
    fails = _OF_ALL.get(part.kind)
    return fails is not None and any(
        some and all(fails(one, near.root, part.names) for one in some)
        for some in having
    )


# One of those that give something must be so, be it who gets the class yet.
_OF_ONE = frozenset({Kind.REQUIRED, Kind.ANY_OF})

# Each that gives something must not be so; with the root of the tree.
_OF_ALL: dict[Kind, Callable[[Standing, Standing, Iterable[str]], bool]] = {
    Kind.FORBIDDEN: lambda one, _, some: one.has_any(some),
    Kind.MEMBER_OF: lambda one, root, some: (
        not (one.is_in(some) or root.is_in(some))
    ),
    Kind.NOT_MEMBER_OF: lambda one, _, some: one.is_in(some),
}

_OF_ROOT: dict[Kind, Callable[[Iterable[str], Vicinity], bool]] = {
    Kind.IN_TREE: lambda some, near: near.uuids.isdisjoint(some),
    Kind.ROOT_REQUIRED: lambda some, near: not near.root.has_any(some),
    Kind.ROOT_FORBIDDEN: lambda some, near: near.root.has_any(some),
}
