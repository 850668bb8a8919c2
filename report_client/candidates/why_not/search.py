# SPDX-License-Identifier: Apache-2.0
"""Ask placement which requirements keep one tree out of the candidates.

Each question is the request without some of its requirements. The search looks
at one thing only: is the tree in the answer? ``why_not.py`` calls it.
"""

import functools
from collections.abc import Callable, Sequence

from .. import candidates
from ..query import Request
from . import (
    certain_failures,
    minimal_sets,
    neighbourhood,
    oracle,
    requirements,
)
from .requirements import Kind, Requirement

_Judge = Callable[[Request], bool | None]


class Search:
    """The questions about one request, without a limit, and one tree.

    :param ways: the number of ways in placement's answer to the whole request
    """

    def __init__(
        self,
        service: candidates.Candidates,
        request: Request,
        near: neighbourhood.Neighbourhood,
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
        an unavailable amount; it is returned only if it fails for certain. A
        requirement that could not be judged is not returned: see ``doubts``.
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
            found += minimal_sets.minimal_sets(
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
                found = minimal_sets.minimal_sets(parts, fits)
        return found

    def _fits(self, parts: Sequence[Requirement], judge: _Judge) -> bool:
        """Return False only if these requirements are known not to be met."""
        request = requirements.restricted_to(self._request, parts)
        return judge(request) is not False

    def _certainly_fails(self, part: Requirement) -> bool:
        amounts = self._request.amounts.get(part.group, {})
        return certain_failures.certainly_fails(part, self._near, amounts)
