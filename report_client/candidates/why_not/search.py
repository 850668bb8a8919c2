# SPDX-License-Identifier: Apache-2.0
"""Ask placement which requirements keep one tree out of the candidates.

Each question is the request without some of its requirements. The search looks
at one thing only: is the tree in the answer? ``why_not.py`` calls it.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from .. import candidates
from ..values import requirements
from ..values.neighbourhood import NearProvider, Neighbourhood
from ..values.query import Request
from ..values.requirements import Kind, Requirement
from . import oracle

_Judge = Callable[[Request], bool | None]
_Part = TypeVar('_Part')
Fits = Callable[[Sequence[_Part]], bool]


class Search:
    """The questions about one request, without a limit, and one tree.

    :param ways: the number of ways in placement's answer to the whole request
    """

    def __init__(
        self,
        service: candidates.Candidates,
        request: Request,
        near: Neighbourhood,
        ways: int,
    ) -> None:
        self._request = request
        self._requirements = requirements.split(request)
        self._near = near
        self._oracle = oracle.Oracle(service, near, ways)

    @property
    def doubts(self) -> list[str]:
        """The reasons why some requirements could not be judged."""
        return self._oracle.doubts

    def conflicts(self) -> list[tuple[Requirement, ...]]:
        """Return sets of requirements that the tree does not meet.

        First the amounts are judged alone, then the conditions together with
        the available amounts. No answer can judge a condition that depends on
        an unavailable amount; it is returned only if it fails for certain.
        Requirements that could not be judged are not returned: ``doubts`` has
        them.
        """
        found = self._unavailable_amounts()
        failed = [part for parts in found for part in parts]
        rest = requirements.remaining(self._requirements, failed)
        amounts = [part for part in rest if part.kind is Kind.RESOURCE]
        conditions = [part for part in rest if part.kind is not Kind.RESOURCE]
        judge = (
            self._oracle.is_compatible if failed else self._oracle.is_candidate
        )
        if amounts and not self.doubts:
            found += minimal_sets(
                conditions, lambda parts: self._fits([*amounts, *parts], judge)
            )
            conditions = []
        dependent = [
            part
            for part in self._requirements
            if part not in rest and part not in failed
        ]
        return found + [
            (part,)
            for part in [*dependent, *conditions]
            if self._certainly_fails(part)
        ]

    def _unavailable_amounts(self) -> list[tuple[Requirement, ...]]:
        """Return sets of amounts that are not available.

        Amounts that other trees would provide count against the tree last,
        and only if other trees would provide all of them.
        """
        amounts = [p for p in self._requirements if p.kind is Kind.RESOURCE]
        is_candidate = self._oracle.is_candidate
        if self._fits(amounts, is_candidate):
            return []
        classes = {rc for p in self._near.tree for rc in p.inventories}
        own = [part for part in amounts if part.names[0] in classes]
        found: list[tuple[Requirement, ...]] = []
        for parts, judge in (
            (amounts, self._oracle.is_compatible),
            (own, is_candidate),
            (amounts, is_candidate),
        ):
            if not found and not self.doubts:
                fits = functools.partial(self._fits, judge=judge)
                found = minimal_sets(parts, fits)
        return found

    def _fits(self, parts: Sequence[Requirement], judge: _Judge) -> bool:
        """Return False only if these requirements are known not to be met."""
        request = requirements.restricted_to(self._request, parts)
        return judge(request) is not False

    def _certainly_fails(self, part: Requirement) -> bool:
        amounts = self._request.amounts.get(part.group, {})
        return certainly_fails(part, self._near, amounts)


# --- the smallest sets of requirements that cannot be met together -------------


def minimal_sets(
    parts: Sequence[_Part], fits: Fits[_Part]
) -> list[tuple[_Part, ...]]:
    """Return sets of parts that do not fit; all other parts fit together.

    First come the parts that do not fit alone, each as a set of one part. Then
    come sets of several parts that do not fit together, although they fit if
    any one part is left out. For n parts, ``fits`` is called n + 1 times if
    there are no sets of several parts, and never more than (n + 1)(n + 2) / 2
    times.

    :param fits: returns True if these parts fit; never called without parts
    """
    found: list[tuple[_Part, ...]]
    found = [(part,) for part in parts if not fits([part])]
    rest = [part for part in parts if (part,) not in found]
    while len(rest) > 1 and not fits(rest):
        smallest = _smallest(rest, fits)
        found.append(tuple(smallest))
        rest = [part for part in rest if part not in smallest]
    return found


def _smallest(parts: Sequence[_Part], fits: Fits[_Part]) -> list[_Part]:
    """Return parts that do not fit, but fit if any one of them is left out.

    Each part fits alone, so a set of two cannot be made smaller.
    """
    smallest = list(parts)
    for part in reversed(parts):
        if len(smallest) == 2:
            break
        fewer = [other for other in smallest if other != part]
        if not fits(fewer):
            smallest = fewer
    return smallest


# --- conditions that certainly fail, judged without asking placement -----------


def certainly_fails(
    condition: Requirement, near: Neighbourhood, amounts: Mapping[str, int]
) -> bool:
    """Return True if a condition would fail even with the amounts available.

    Placement cannot be asked about a condition on an amount that is not
    available. The facts of the neighbourhood still tell if such a condition
    fails for every provider that could provide the amount.

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
