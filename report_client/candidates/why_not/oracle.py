# SPDX-License-Identifier: Apache-2.0
"""Ask placement if one tree fits a request: yes, no or unknown.

If the tree is in an answer, it fits. If it is missing from a complete answer,
it does not fit. If the answer may be incomplete, the result is unknown:
an operator can tell placement to stop after a number of ways to meet a request
(``[placement] max_allocation_candidates`` of its configuration), and it may
answer 500. ``search.py`` chooses the questions.
"""

import collections
import dataclasses
import itertools
import sys
from collections.abc import Iterator, Sequence

from compute_agent.tree import names

from ... import errors
from .. import candidates
from ..values import answer, neighbourhood, query
from ..values.query import Group, Request, TraitQuery

# One way more than before is enough evidence; the least limit is larger, so
# that the same request also judges later answers.
_WAYS = 1000
_TRAITS = 40  # in one path
_CLASSES = 4


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Judgement:
    """The part of an answer that is kept; answers can name the whole cloud.

    :ivar is_candidate: see ``values/neighbourhood.py``, also for
        ``is_compatible``
    :ivar ways: the number of ways to meet the request in the answer
    :ivar wider: requests with more ways, if the answer may have been cut
    """

    is_candidate: bool
    is_compatible: bool
    ways: int
    wider: Sequence[Request]


class Oracle:
    """Asks placement about one tree, and returns only certain answers.

    :param ways: the number of ways in placement's answer to some request
    :ivar doubts: the reasons why a judgement is unknown, each once
    """

    def __init__(
        self,
        service: candidates.Candidates,
        near: neighbourhood.Neighbourhood,
        ways: int,
    ) -> None:
        self._candidates = service
        self._near = near
        self._judgements: dict[str, _Judgement | None] = {}
        # Placement is known to answer this many ways without stopping.
        self._most = ways
        self._tried: set[str] = set()
        self.doubts: list[str] = []

    def is_candidate(self, request: Request) -> bool | None:
        """Return True if the tree is a candidate, None if that is unknown."""
        judgement = self._judgement(request)
        if judgement is None:
            return None
        return True if judgement.is_candidate else self._missing(judgement)

    def is_compatible(self, request: Request) -> bool | None:
        """Return True if the tree could be in a candidate, None if unknown."""
        judgement = self._judgement(request)
        if judgement is None:
            return None
        return True if judgement.is_compatible else self._missing(judgement)

    def _missing(self, judgement: _Judgement) -> bool | None:
        """Return False if the answer without the tree is complete, else None."""
        if not judgement.wider or self._is_complete(judgement):
            return False
        self._doubt(
            'placement may have stopped early when it answered '
            f'{judgement.ways} ways to meet a part of the request ([placement] '
            'max_allocation_candidates on the server)'
        )
        return None

    def _is_complete(self, judgement: _Judgement) -> bool:
        """Return True if placement is known to go on after this many ways."""
        for request in judgement.wider:
            if judgement.ways < self._most:
                break
            if request.path() not in self._tried:
                self._tried.add(request.path())
                self._most = max(self._most, self._count(request))
        return judgement.ways < self._most

    def _count(self, request: Request) -> int:
        """Return the number of ways in an answer, 0 if placement fails."""
        try:
            return len(self._candidates.ask(request).allocations)
        except errors.ServerFault:
            return 0
        except errors.TooOld:
            # Placement got the limit on candidates later than the
            # microversion that this request needs.
            return sys.maxsize

    def _judgement(self, request: Request) -> _Judgement | None:
        path = request.path()
        if path not in self._judgements:
            try:
                found = self._ask(request)
            except errors.ServerFault as exc:
                self._doubt(
                    'placement cannot be asked for a part of the request, '
                    f'because of a bug of the server: {exc}'
                )
                self._judgements[path] = None
            else:
                self._judgements[path] = self._judge(request, found)
        return self._judgements[path]

    def _ask(self, request: Request) -> answer.Answer:
        """Ask for this tree only, if no other tree can take part with it."""
        if self._near.shares_nothing:
            root = self._near.root.provider.uuid
            try:
                return self._candidates.ask(limited_to_tree(request, root))
            except errors.TooOld:
                pass  # such a placement is also too old to stop early
        return self._candidates.ask(request)

    def _judge(self, request: Request, found: answer.Answer) -> _Judgement:
        ways = len(found.allocations)
        self._most = max(self._most, ways)
        wider: Sequence[Request] = ()
        if ways and not self._near.shares_nothing:
            wider = tuple(with_more_ways(request, found, self._near))
        return _Judgement(
            is_candidate=self._near.is_candidate(found),
            is_compatible=self._near.is_compatible(found),
            ways=ways,
            wider=wider,
        )

    def _doubt(self, why: str) -> None:
        if why not in self.doubts:
            self.doubts.append(why)


# --- requests that show if an answer was cut: one tree, or more ways ------------


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
