# SPDX-License-Identifier: Apache-2.0
"""Asking placement which requirements keep one tree out of the candidates.

Each question is the request with some requirements left out; of the answer
only counts whether the tree is in it. ``why_not.py`` has it put into words.
"""

import functools
from collections.abc import Callable, Sequence

from . import candidates, certainty, conflicts, requirements, vicinity
from .candidates_query import Request
from .requirements import Kind, Requirement
from .verdicts import Verdicts

_Judge = Callable[[Request], bool | None]


class Inquiry:
    """The questions about one request, without a limit, and one tree.

    :param ways: how many ways there are to meet the request
    """

    def __init__(
        self,
        asked: candidates.Candidates,
        request: Request,
        near: vicinity.Vicinity,
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
            found += conflicts.conflicts(
                conditions, lambda some: self._fits([*amounts, *some], judge)
            )
            conditions = []
        hanging = [p for p in self._every if p not in left and p not in gone]
        return found + [(p,) for p in [*hanging, *conditions] if self._sure(p)]

    def _sure(self, part: Requirement) -> bool:
        amounts = self._request.amounts.get(part.group, {})
        return certainty.is_certain(part, self._near, amounts)

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
                found = conflicts.conflicts(some, fits)
        return found

    def _fits(self, some: Sequence[Requirement], judge: _Judge) -> bool:
        """Return whether these are met, or it is not known that they are not."""
        return judge(requirements.kept(self._request, some)) is not False
