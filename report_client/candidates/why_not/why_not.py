# SPDX-License-Identifier: Apache-2.0
"""Why a provider is not among the candidates for a request.

Placement is the judge: it is asked with requirements left out, and what counts
is whether the provider is in its answer. So what is found holds for nested
trees, for sharing and for groups alike. ``wording.py`` puts it into words.
"""

import dataclasses
from collections.abc import Callable, Sequence

from compute_agent import errors as agent_errors

from ...http import codec, placement
from .. import candidates, query
from . import neighbourhood_reader, requirements, search, wording

Requirement = requirements.Requirement
Request = query.Request


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Requirements that the provider's tree does not meet.

    :ivar requirements: one; or several, each of which could be met without
        the others
    :ivar nearest: the name of the provider that comes nearest to meeting them
    :ivar why: the facts
    """

    requirements: tuple[Requirement, ...]
    nearest: str
    why: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a provider is not among the candidates.

    :ivar failures: nothing, exactly if it is one
    :ivar doubts: why there may be more than that
    """

    failures: tuple[Failure, ...] = ()
    doubts: tuple[str, ...] = ()


class WhyNot:
    """Answers the question for one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._candidates = candidates.Candidates(service)
        self._surroundings = neighbourhood_reader.Surroundings(service, clock)

    def explain(self, request: Request, target: codec.Listed) -> Explanation:
        """Return which requirements keep a provider's tree out.

        Nothing is returned exactly when the provider is in the answer to the
        request, its limit left aside. Without what is named it is in the
        answer, or would be if it were asked for something: where all that is
        left comes from others it cannot show. A requirement is left out with
        what hangs on it (``requirements.without``).

        It asks for candidates once if the provider is one. Else, for a request
        of r amounts and c conditions, mostly r + c + 4 times and never more
        than 4 + (r + 1)(r + 2) / 2 + (c + 1)(c + 2) / 2 times; where something
        is shared, once more for each answer that may have been cut. Beside
        that it reads four collections of each provider of the tree and of each
        that shares with it.

        :raises errors.NotFound: the request names what placement lacks
        :raises agent_errors.UnknownState: nothing is known; or placement
            changed in the meantime, or left the provider out
        """
        whole = dataclasses.replace(request, limit=None)
        answer = self._candidates.ask(whole)
        if target.uuid in answer.summaries:
            return Explanation()
        near = self._surroundings.of(target)
        ways = len(answer.allocations)
        asked = search.Inquiry(self._candidates, whole, near, ways)
        found = asked.conflicts()
        if not found:
            raise self._nothing(whole, target, asked.doubts)
        words = wording.Shortfall(near=near, amounts=request.amounts)
        return Explanation(
            failures=tuple(_failure(words, parts) for parts in found),
            doubts=tuple(asked.doubts),
        )

    def _nothing(
        self, whole: Request, target: codec.Listed, doubts: Sequence[str]
    ) -> agent_errors.UnknownState:
        """Return what to say if no requirement is known not to be met."""
        if doubts:
            return agent_errors.UnknownState(
                f'{target.name}: why it is not a candidate is not known: '
                f'{"; ".join(doubts)}'
            )
        answer = self._candidates.ask(whole)
        if target.uuid in answer.summaries:
            return agent_errors.UnknownState(
                f'{target.name}: what is free, or who may have it, changed '
                'while placement was asked about it: ask again'
            )
        return agent_errors.UnknownState(
            f'{target.name} meets the request, but placement leaves it out: it '
            f'stops after {len(answer.allocations)} ways; raise [placement] '
            'max_allocation_candidates on the server, or set '
            'allocation_candidates_generation_strategy = breadth-first there'
        )


def _failure(
    words: wording.Shortfall, parts: tuple[Requirement, ...]
) -> Failure:
    nearest, why = words.said(parts)
    return Failure(requirements=parts, nearest=nearest.name, why=why)
