# SPDX-License-Identifier: Apache-2.0
"""Why a provider has a trait, or has not: placement, our record, the driver.

Pure: no I/O, configuration, logging or clock. ``compute-agent explain`` prints
it. What is there is placement's word, who added it our record's, and why it
should be there the driver's.
"""

import dataclasses
import enum

from ..tree import assertion, provider
from .record import Record


class State(enum.Enum):
    """What is the matter with one trait on one provider."""

    OURS = 'there: this agent added it'
    SHARED = 'there: another added it, and this agent wants it too'
    OTHERS = 'there: another added it'
    DUE = 'not there, and the next sync adds it'
    LEAVING = 'there, and the next sync removes it'
    ABSENT = 'not there'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One trait on one provider.

    :ivar held_by: the sources that hold it: they asserted it when they last
        visited; with the node they did it for if that is another
    """

    provider: provider.Provider
    state: State
    claimed_by: tuple[str, ...] = ()


def explain(
    trait: str,
    before: provider.Snapshot,
    after: provider.Snapshot,
    record: Record,
) -> list[Explanation]:
    """Return how the trait stands on each of these providers.

    :param before: the providers as placement has them
    :param after: as the next sync would leave them
    """
    return [
        _of(trait, before.get(uuid), after.get(uuid), record)
        for uuid in dict.fromkeys((*before, *after))
    ]


def _of(
    trait: str,
    now: provider.Provider | None,
    wanted: provider.Provider | None,
    record: Record,
) -> Explanation:
    one = now or wanted
    if one is None:
        raise AssertionError  # one of the two snapshots has it
    key = (one.uuid, assertion.Kind.TRAIT)
    claimed_by = tuple(
        source for source, names in record.claimants(key) if trait in names
    )
    return Explanation(
        provider=one,
        claimed_by=claimed_by,
        state=_state(
            there=now is not None and trait in now.traits,
            stays=wanted is not None and trait in wanted.traits,
            ours=trait in record.ours.get(key, frozenset()),
            claims=bool(claimed_by),
        ),
    )


def _state(*, there: bool, stays: bool, ours: bool, claims: bool) -> State:
    if not there:
        return State.DUE if stays else State.ABSENT
    if not stays:
        return State.LEAVING
    if ours:
        return State.OURS
    return State.SHARED if claims else State.OTHERS
