# SPDX-License-Identifier: Apache-2.0
"""What placement says of one tree: it would do, it would not, or not known.

A yes is in an answer for all to see. A no is one only of an answer that is
whole: placement may have been told to stop early, and it may fail inside.
``search.py`` chooses what to ask.
"""

import dataclasses
import sys
from collections.abc import Sequence

from ... import errors
from .. import answer, candidates
from ..query import Request
from . import narrowed_requests, neighbourhood


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """What is kept of an answer: it names the whole cloud.

    :ivar takes_part: see ``neighbourhood.py``, as for ``goes_with``
    :ivar ways: how many ways to meet the request there are in it
    :ivar wider: requests with more ways, if the answer could have been cut
    """

    takes_part: bool
    goes_with: bool
    ways: int
    wider: Sequence[Request]


class Verdicts:
    """Asks placement about one tree, and says what is certain of its answers.

    :param ways: how many ways placement had for some request
    :ivar doubts: why something is not known, each once
    """

    def __init__(
        self,
        asked: candidates.Candidates,
        near: neighbourhood.Vicinity,
        ways: int,
    ) -> None:
        self._candidates = asked
        self._near = near
        self._verdicts: dict[str, _Verdict | None] = {}
        # Placement does not stop before so many.
        self._most = ways
        self._tried: set[str] = set()
        self.doubts: list[str] = []

    def takes_part(self, request: Request) -> bool | None:
        """Return whether the tree is among the candidates, None: not known."""
        verdict = self._verdict(request)
        if verdict is None:
            return None
        return True if verdict.takes_part else self._no(verdict)

    def goes_with(self, request: Request) -> bool | None:
        """Return whether the tree could take part, None: not known."""
        verdict = self._verdict(request)
        if verdict is None:
            return None
        return True if verdict.goes_with else self._no(verdict)

    def _no(self, verdict: _Verdict) -> bool | None:
        """Return False if an answer without the tree says that it will not do."""
        if not verdict.wider or self._is_whole(verdict):
            return False
        self._doubt(
            'placement may have stopped early when it answered '
            f'{verdict.ways} ways to meet a part of the request ([placement] '
            'max_allocation_candidates on the server)'
        )
        return None

    def _is_whole(self, verdict: _Verdict) -> bool:
        """Return whether placement is known to go on after so many ways."""
        for request in verdict.wider:
            if verdict.ways < self._most:
                break
            if request.path() not in self._tried:
                self._tried.add(request.path())
                self._most = max(self._most, self._count(request))
        return verdict.ways < self._most

    def _count(self, request: Request) -> int:
        """Return how many ways there are, 0 where it cannot be told."""
        try:
            return len(self._candidates.ask(request).allocations)
        except errors.ServerFault:
            return 0
        except errors.TooOld:
            # What lets placement stop early came after what this needs.
            return sys.maxsize

    def _verdict(self, request: Request) -> _Verdict | None:
        path = request.path()
        if path not in self._verdicts:
            try:
                answer = self._answer(request)
            except errors.ServerFault as exc:
                self._doubt(
                    'a part of the request cannot be asked, for a bug of the '
                    f'server: {exc}'
                )
                self._verdicts[path] = None
            else:
                self._verdicts[path] = self._read(request, answer)
        return self._verdicts[path]

    def _answer(self, request: Request) -> answer.Answer:
        """Ask for one tree only, if no other has a part in its answers."""
        if self._near.is_alone:
            root = self._near.root.provider.uuid
            try:
                return self._candidates.ask(
                    narrowed_requests.to_tree(request, root)
                )
            except errors.TooOld:
                pass  # and so too old to stop early
        return self._candidates.ask(request)

    def _read(self, request: Request, answer: answer.Answer) -> _Verdict:
        ways = len(answer.allocations)
        self._most = max(self._most, ways)
        wider: Sequence[Request] = ()
        if ways and not self._near.is_alone:
            wider = tuple(narrowed_requests.wider(request, answer, self._near))
        return _Verdict(
            takes_part=self._near.takes_part(answer),
            goes_with=self._near.goes_with(answer),
            ways=ways,
            wider=wider,
        )

    def _doubt(self, why: str) -> None:
        if why not in self.doubts:
            self.doubts.append(why)
