# SPDX-License-Identifier: Apache-2.0
"""What placement answers to a request for candidates, as values.

Pure: no I/O, configuration, logging or clock. An answer is all of it or
nothing: one that is not as documented raises ``MalformedAnswer``.
"""

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any

from compute_agent import error_text

from .. import errors


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What there is of a resource class: (total - reserved) * ratio, and used."""

    capacity: int
    used: int

    @property
    def free(self) -> int:
        """What is left; none where more is used than there is."""
        return max(self.capacity - self.used, 0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A provider of a tree from which something would be allocated."""

    uuid: str
    parent_uuid: str | None
    root_uuid: str
    traits: frozenset[str]
    offers: Mapping[str, Offer]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """One way to meet the request: an "allocation request" of the API.

    :ivar resources: provider uuid → resource class → amount
    :ivar mappings: group → uuids of who meets it; nothing before 1.34
    """

    resources: Mapping[str, Mapping[str, int]]
    mappings: Mapping[str, tuple[str, ...]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The candidates: how the request can be met, and by whom.

    :ivar summaries: by uuid, every provider of each tree that takes part
    """

    allocations: tuple[Allocation, ...]
    summaries: Mapping[str, Summary]

    def given(self) -> dict[str, frozenset[str]]:
        """Return which resource classes would come from which provider."""
        found: dict[str, frozenset[str]] = {}
        for one in self.allocations:
            for uuid, amounts in one.resources.items():
                found[uuid] = found.get(uuid, frozenset()) | amounts.keys()
        return found


def read(body: object) -> Answer:
    """Return the answer to ``GET /allocation_candidates`` (1.29 to 1.39).

    :raises errors.MalformedAnswer: not as documented
    """
    try:
        return _answer(body)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise errors.MalformedAnswer(
            'placement answered a request for candidates with JSON of another '
            f'shape than documented: {str(body)[:120]!r} '
            f'({type(exc).__name__}: {exc})'
        ) from exc


def _answer(body: Any) -> Answer:
    answer = Answer(
        allocations=tuple(map(_allocation, body['allocation_requests'])),
        summaries={
            uuid: _summary(uuid, one)
            for uuid, one in body['provider_summaries'].items()
        },
    )
    strangers = answer.given().keys() - answer.summaries.keys()
    if strangers:
        raise ValueError(f'no summary of {", ".join(sorted(strangers))}')
    for uuid in answer.summaries:
        _check_parents(uuid, answer.summaries)
    return answer


def _check_parents(uuid: str, summaries: Mapping[str, Summary]) -> None:
    """Refuse a provider whose parents do not end at a root."""
    seen = {uuid}
    above = summaries[uuid].parent_uuid
    while above is not None:
        if above in seen:
            raise ValueError(f'{above} is above itself')
        if above not in summaries:
            raise ValueError(f'no summary of the parent {above}')
        seen.add(above)
        above = summaries[above].parent_uuid


def _allocation(one: Any) -> Allocation:
    return Allocation(
        resources={
            uuid: {
                rc: operator.index(n) for rc, n in given['resources'].items()
            }
            for uuid, given in one['allocations'].items()
        },
        mappings={
            group: tuple(sorted(uuids))
            for group, uuids in one.get('mappings', {}).items()
        },
    )


def _summary(uuid: str, one: Any) -> Summary:
    parent = one['parent_provider_uuid']
    return Summary(
        uuid=uuid,
        parent_uuid=None if parent is None else _text(parent),
        root_uuid=_text(one['root_provider_uuid']),
        traits=frozenset(map(_text, one['traits'])),
        offers={
            rc: Offer(
                capacity=operator.index(has['capacity']),
                used=operator.index(has['used']),
            )
            for rc, has in one['resources'].items()
        },
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f'{error_text.excerpt(value)} is no string')
    return value
