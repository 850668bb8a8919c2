# SPDX-License-Identifier: Apache-2.0
"""Asking placement which requirements keep one tree out of the candidates.

Each question is the request with some requirements left out; of the answer
only counts whether the tree is in it. ``why_not.py`` has it put into words.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from .. import candidates
from ..query import Request
from . import neighbourhood, requirements
from .neighbourhood import Standing, Vicinity
from .oracle import Verdicts
from .requirements import Kind, Requirement

_Part = TypeVar('_Part')

Fits = Callable[[Sequence[_Part]], bool]
_Judge = Callable[[Request], bool | None]


class Inquiry:
    """The questions about one request, without a limit, and one tree.

    :param ways: how many ways there are to meet the request
    """

    def __init__(
        self,
        asked: candidates.Candidates,
        request: Request,
        near: neighbourhood.Vicinity,
        ways: int,
    ) -> None:
        self._request = request
        self._every = requirements.taken_apart(request)
        self._near = near
        self._verdicts = Verdicts(asked, near, ways)

    @property
    def doubts(self) -> list[str]:
        """Why not all that was asked is known."""
        return self._verdicts.doubts

    def conflicts(self) -> list[tuple[Requirement, ...]]:
        """Return sets of requirements that are not met.

        First the amounts alone, then the conditions on top of those that can
        be had. What hangs on an amount that cannot be had cannot be judged by
        an answer; of that it is said what fails in any case. What is not known
        is held against nothing: see ``doubts``.
        """
        found = self._of_amounts()
        gone = [part for parts in found for part in parts]
        left = requirements.left(self._every, gone)
        amounts = [p for p in left if p.kind is Kind.RESOURCE]
        conditions = [p for p in left if p.kind is not Kind.RESOURCE]
        judge = self._verdicts.goes_with if gone else self._verdicts.takes_part
        if amounts and not self.doubts:
            found += conflicts(
                conditions, lambda some: self._fits([*amounts, *some], judge)
            )
            conditions = []
        hanging = [p for p in self._every if p not in left and p not in gone]
        return found + [(p,) for p in [*hanging, *conditions] if self._sure(p)]

    def _sure(self, part: Requirement) -> bool:
        amounts = self._request.amounts.get(part.group, {})
        return is_certain(part, self._near, amounts)

    def _of_amounts(self) -> list[tuple[Requirement, ...]]:
        """Return sets of amounts that cannot be had.

        What others would give is held against the tree last, and only where
        they would give all of it.
        """
        amounts = [p for p in self._every if p.kind is Kind.RESOURCE]
        takes_part = self._verdicts.takes_part
        if self._fits(amounts, takes_part):
            return []
        classes = {rc for one in self._near.tree for rc in one.inventories}
        own = [part for part in amounts if part.names[0] in classes]
        found: list[tuple[Requirement, ...]] = []
        for some, judge in (
            (amounts, self._verdicts.goes_with),
            (own, takes_part),
            (amounts, takes_part),
        ):
            if not found and not self.doubts:
                fits = functools.partial(self._fits, judge=judge)
                found = conflicts(some, fits)
        return found

    def _fits(self, some: Sequence[Requirement], judge: _Judge) -> bool:
        """Return whether these are met, or it is not known that they are not."""
        return judge(requirements.kept(self._request, some)) is not False


def conflicts(
    parts: Sequence[_Part], fits: Fits[_Part]
) -> list[tuple[_Part, ...]]:
    """Return sets of parts that do not fit; all others together do.

    First those that do not fit by themselves, each a set of one; then sets
    that do not fit together, though each does if any one of it is left out.
    For n parts the judge is asked n + 1 times if there are no such sets, and
    never more than (n + 1)(n + 2) / 2 times.

    :param fits: whether these parts fit; it is never asked for none
    """
    found: list[tuple[_Part, ...]]
    found = [(part,) for part in parts if not fits([part])]
    rest = [part for part in parts if (part,) not in found]
    while len(rest) > 1 and not fits(rest):
        least = _least(rest, fits)
        found.append(tuple(least))
        rest = [part for part in rest if part not in least]
    return found


def _least(parts: Sequence[_Part], fits: Fits[_Part]) -> list[_Part]:
    """Return parts that do not fit, such that any one less does.

    Each part fits by itself, so two that do not are the least there is.
    """
    least = list(parts)
    for part in reversed(parts):
        if len(least) == 2:
            break
        fewer = [other for other in least if other != part]
        if not fits(fewer):
            least = fewer
    return least


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
