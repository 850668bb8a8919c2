# SPDX-License-Identifier: Apache-2.0
"""Placement's answer to a request for allocation candidates, as values.

Pure: no I/O, configuration, logging or clock. An answer of another shape than
documented raises ``MalformedAnswer``; no part of it is used.
"""

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any

from compute_agent import error_text

from ... import errors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The capacity and usage of one resource class of a provider.

    :ivar capacity: (total - reserved) * allocation_ratio
    :ivar used: the amount in use
    """

    capacity: int
    used: int

    @property
    def free(self) -> int:
        """The free amount; 0 if more is used than the capacity."""
        return max(self.capacity - self.used, 0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A provider of a tree that contributes to a candidate.

    :ivar offers: by resource class
    """

    uuid: str
    parent_uuid: str | None
    root_uuid: str
    traits: frozenset[str]
    offers: Mapping[str, Offer]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """One way to meet the request: an "allocation request" of the API.

    :ivar resources: provider uuid → resource class → amount
    :ivar mappings: group → uuids of the providers that meet it; empty before
        1.34
    """

    resources: Mapping[str, Mapping[str, int]]
    mappings: Mapping[str, tuple[str, ...]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The candidates: the ways to meet a request, and their providers.

    :ivar summaries: every provider of each tree that contributes, by uuid
    """

    allocations: tuple[Allocation, ...]
    summaries: Mapping[str, Summary]

    def classes_by_provider(self) -> dict[str, frozenset[str]]:
        """Return provider uuid → resource classes that it would provide."""
        found: dict[str, frozenset[str]] = {}
        for allocation in self.allocations:
            for uuid, amounts in allocation.resources.items():
                found[uuid] = found.get(uuid, frozenset()) | amounts.keys()
        return found


def read(body: object) -> Answer:
    """Return the decoded answer to ``GET /allocation_candidates``.

    :param body: decoded JSON, of microversion 1.29 to 1.39
    :raises errors.MalformedAnswer: the body is not as documented
    """
    try:
        return _answer(body)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise errors.MalformedAnswer(
            "placement's answer to a request for candidates does not have the "
            f'documented shape: {str(body)[:120]!r} '
            f'({type(exc).__name__}: {exc})'
        ) from exc


def _answer(body: Any) -> Answer:
    answer = Answer(
        allocations=tuple(map(_allocation, body['allocation_requests'])),
        summaries={
            uuid: _summary(uuid, summary)
            for uuid, summary in body['provider_summaries'].items()
        },
    )
    unknown = answer.classes_by_provider().keys() - answer.summaries.keys()
    if unknown:
        raise ValueError(f'no summary of {", ".join(sorted(unknown))}')
    for uuid in answer.summaries:
        _check_parents(uuid, answer.summaries)
    return answer


def _check_parents(uuid: str, summaries: Mapping[str, Summary]) -> None:
    """Refuse a provider whose chain of parents does not end at a root."""
    seen = {uuid}
    above = summaries[uuid].parent_uuid
    while above is not None:
        if above in seen:
            raise ValueError(f'{above} is above itself')
        if above not in summaries:
            raise ValueError(f'no summary of the parent {above}')
        seen.add(above)
        above = summaries[above].parent_uuid


def _allocation(request: Any) -> Allocation:
    return Allocation(
        resources={
            uuid: {
                rc: operator.index(n)
                for rc, n in allocation['resources'].items()
            }
            for uuid, allocation in request['allocations'].items()
        },
        mappings={
            group: tuple(sorted(uuids))
            for group, uuids in request.get('mappings', {}).items()
        },
    )


def _summary(uuid: str, summary: Any) -> Summary:
    parent = summary['parent_provider_uuid']
    return Summary(
        uuid=uuid,
        parent_uuid=None if parent is None else _text(parent),
        root_uuid=_text(summary['root_provider_uuid']),
        traits=frozenset(map(_text, summary['traits'])),
        offers={
            rc: Offer(
                capacity=operator.index(usage['capacity']),
                used=operator.index(usage['used']),
            )
            for rc, usage in summary['resources'].items()
        },
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f'{error_text.excerpt(value)} is not a string')
    return value
