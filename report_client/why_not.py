# SPDX-License-Identifier: Apache-2.0
"""Why a provider is not among the candidates for a request.

Placement is the judge: it is asked with requirements left out, and what counts
is whether the provider is in its answer. So what is found holds for nested
trees, for sharing and for groups alike. ``shortfall.py`` puts it into words.
"""

import dataclasses
from collections.abc import Callable

from compute_agent import errors as agent_errors

from . import (
    candidates,
    candidates_query,
    inquiry,
    placement,
    requirements,
    shortfall,
    surroundings,
    wire,
)

Requirement = requirements.Requirement
Request = candidates_query.Request


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


class WhyNot:
    """Answers the question for one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._candidates = candidates.Candidates(service)
        self._surroundings = surroundings.Surroundings(service, clock)

    def failures(
        self, request: Request, target: wire.Listed
    ) -> tuple[Failure, ...]:
        """Return which requirements keep a provider's tree out.

        Nothing is returned exactly when the provider is in the answer to the
        request, its limit left aside. Without what is named it is in the
        answer, or would be if it were asked for something: where all that is
        left comes from others it cannot show. A requirement is left out with
        what hangs on it (``requirements.without``).

        It asks for candidates once if the provider is one. Else, for a request
        of r amounts and c conditions, mostly r + c + 4 times and never more
        than 3 + (r + 1)(r + 2) / 2 + (c + 1)(c + 2) / 2 times. Beside that it
        reads four collections of each provider of the tree and of each that
        shares with it.

        :raises errors.NotFound: the request names what placement lacks
        :raises agent_errors.UnknownState: placement changed in the meantime
        """
        whole = dataclasses.replace(request, limit=None)
        if target.uuid in self._candidates.ask(whole).summaries:
            return ()
        near = self._surroundings.of(target)
        asked = inquiry.Inquiry(self._candidates, whole, near)
        found = asked.conflicts()
        if not found:
            raise agent_errors.UnknownState(
                f'{target.name}: what is free, or who may have it, changed '
                'while placement was asked about it: ask again'
            )
        words = shortfall.Shortfall(near=near, amounts=request.amounts)
        return tuple(_failure(words, parts) for parts in found)


def _failure(
    words: shortfall.Shortfall, parts: tuple[Requirement, ...]
) -> Failure:
    nearest, why = words.said(parts)
    return Failure(requirements=parts, nearest=nearest.name, why=why)
