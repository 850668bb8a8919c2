# SPDX-License-Identifier: Apache-2.0
"""Asking placement which requirements keep one tree out of the candidates.

Each question is the request with some requirements left out; of the answer
only counts whether the tree is in it. ``why_not.py`` has it put into words.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence

from . import candidates, certainty, conflicts, requirements, vicinity
from .candidates_query import Request
from .requirements import Kind, Requirement


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """What an answer says of one tree; see ``vicinity.py``."""

    takes_part: bool
    goes_with: bool


_Judge = Callable[[_Verdict], bool]
_takes_part: _Judge = operator.attrgetter('takes_part')
_goes_with: _Judge = operator.attrgetter('goes_with')


class Inquiry:
    """The questions about one request, without a limit, and one tree."""

    def __init__(
        self,
        asked: candidates.Candidates,
        request: Request,
        near: vicinity.Vicinity,
    ) -> None:
        self._candidates = asked
        self._request = request
        self._every = requirements.taken_apart(request)
        self._near = near
        # Of each answer what is wanted of it: it names the whole cloud.
        self._verdicts: dict[str, _Verdict] = {}

    def conflicts(self) -> list[tuple[Requirement, ...]]:
        """Return sets of requirements that are not met.

        First the amounts alone, then the conditions on top of those that can
        be had. What hangs on an amount that cannot be had cannot be judged by
        an answer; of that it is said what fails in any case.
        """
        found = self._of_amounts()
        gone = [part for parts in found for part in parts]
        left = requirements.left(self._every, gone)
        amounts = [p for p in left if p.kind is Kind.RESOURCE]
        conditions = [p for p in left if p.kind is not Kind.RESOURCE]
        judge = _goes_with if gone else _takes_part
        if amounts:
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
        if self._fits(amounts, _takes_part):
            return []
        classes = {rc for one in self._near.tree for rc in one.inventories}
        own = [part for part in amounts if part.names[0] in classes]
        found: list[tuple[Requirement, ...]] = []
        for some, judge in (
            (amounts, _goes_with),
            (own, _takes_part),
            (amounts, _takes_part),
        ):
            fits = functools.partial(self._fits, judge=judge)
            found = found or conflicts.conflicts(some, fits)
        return found

    def _fits(self, some: Sequence[Requirement], judge: _Judge) -> bool:
        request = requirements.kept(self._request, some)
        if request is None:
            return True
        path = request.path()
        if path not in self._verdicts:
            answer = self._candidates.ask(request)
            self._verdicts[path] = _Verdict(
                takes_part=self._near.takes_part(answer),
                goes_with=self._near.goes_with(answer),
            )
        return judge(self._verdicts[path])
