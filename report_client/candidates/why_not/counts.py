# SPDX-License-Identifier: Apache-2.0
"""Count the hosts that fail each requirement of a request.

``why_not.py`` explains one provider exactly; to do that for each host of a
cloud would take a thousand requests. This module asks placement a few times
for the whole cloud: for each amount alone, for all but one, and for each
condition beside all amounts. Placement is the judge. A requirement that no
answer can judge for a host counts as unknown, never as failed.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable

from ...http.messages import codec
from .. import candidates
from ..values import answer, query, requirements
from ..values.requirements import Kind, Requirement


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The hosts that fail one requirement, by the uuids of their roots.

    :ivar unknown: the hosts for which it could not be judged
    :ivar elsewhere: the hosts that fail, and have the required trait on a
        provider that would give nothing
    """

    requirement: Requirement
    failing: frozenset[str]
    unknown: frozenset[str]
    elsewhere: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The result of a request for all hosts.

    :ivar answer: placement's answer to the whole request
    :ivar fitting: the hosts that take part in a candidate
    :ivar together: the hosts that meet each requirement alone, and not all of
        them together
    """

    answer: answer.Answer
    fitting: frozenset[str]
    counts: tuple[Count, ...]
    together: frozenset[str]


class Counting:
    """Counts for one placement service.

    :param holders: returns the providers that have a trait
    :param pools: the uuids of the providers that share with others
    """

    def __init__(
        self,
        service: candidates.Candidates,
        holders: Callable[[str], Iterable[codec.ListedProvider]],
        pools: Collection[str],
    ) -> None:
        self._candidates = service
        self._holders = holders
        self._pools = frozenset(pools)

    def count(self, request: query.Request, hosts: Collection[str]) -> Counts:
        """Return, for each requirement, the hosts that fail it.

        For a amounts and c conditions it sends at most 2 + 2a + c requests for
        candidates, and a list for each trait that is required.

        :param hosts: the uuids of their roots
        :raises errors.DoesNotExist: placement does not know a name
        :raises errors.ServerFault: placement failed (500)
        """
        every = frozenset(hosts)
        whole = dataclasses.replace(request, limit=None)
        found = self._candidates.ask(whole)
        parts = requirements.split(whole)
        amounts = [part for part in parts if part.kind is Kind.RESOURCE]
        conditions = [part for part in parts if part.kind is not Kind.RESOURCE]
        fitting = self._roots(found) & every
        able = fitting
        if conditions and fitting != every:
            able |= self._fitting(whole, amounts) & every
        counts = [
            self._of_amount(whole, part, amounts, every, able)
            for part in amounts
        ]
        counts += [
            self._of_condition(whole, part, amounts, every, able, fitting)
            for part in conditions
        ]
        kept_out = frozenset[str]().union(
            *(one.failing | one.unknown for one in counts)
        )
        return Counts(
            answer=found,
            fitting=fitting,
            counts=tuple(counts),
            together=every - fitting - kept_out,
        )

    def _of_amount(
        self,
        whole: query.Request,
        part: Requirement,
        amounts: Collection[Requirement],
        every: frozenset[str],
        able: frozenset[str],
    ) -> Count:
        """Count an amount.

        A host whose amount comes from a pool is in no answer to a request for
        the amount alone. If it fails the amount for certain, it is in the
        answer to all the other amounts.
        """
        left = every - able
        if not left:
            return _count(part)
        alone = self._candidates.ask(requirements.restricted_to(whole, [part]))
        failing = left - self._roots(alone)
        if self._pools.isdisjoint(alone.classes_by_provider()):
            return _count(part, failing)
        others = [one for one in amounts if one is not part]
        without = self._fitting(whole, others) if others else frozenset()
        certain = failing & without
        return _count(part, certain, failing - certain)

    def _of_condition(
        self,
        whole: query.Request,
        part: Requirement,
        amounts: Collection[Requirement],
        every: frozenset[str],
        able: frozenset[str],
        fitting: frozenset[str],
    ) -> Count:
        """Count a condition; only hosts with all amounts can be asked about."""
        failing = frozenset[str]()
        if able - fitting:
            meeting = self._fitting(whole, [*amounts, part])
            failing = able - fitting - meeting
        rest = every - able
        if part.kind is not Kind.REQUIRED or not (failing or rest):
            return _count(part, failing, rest)
        having = [*self._holders(part.names[0])]
        trees = {row.root_uuid for row in having}
        lacking = frozenset[str]()
        if self._pools.isdisjoint(row.uuid for row in having):
            lacking = rest - trees
        found = _count(part, failing | lacking, rest - lacking)
        return dataclasses.replace(found, elsewhere=failing & trees)

    def _fitting(
        self, whole: query.Request, parts: Collection[Requirement]
    ) -> frozenset[str]:
        request = requirements.restricted_to(whole, parts)
        return self._roots(self._candidates.ask(request))

    @staticmethod
    def _roots(found: answer.Answer) -> frozenset[str]:
        """Return the roots of the trees that give something."""
        return frozenset(
            found.summaries[uuid].root_uuid
            for uuid in found.classes_by_provider()
        )


def _count(
    part: Requirement,
    failing: frozenset[str] = frozenset(),
    unknown: frozenset[str] = frozenset(),
) -> Count:
    return Count(requirement=part, failing=failing, unknown=unknown)
