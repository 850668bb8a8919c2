# SPDX-License-Identifier: Apache-2.0
"""Explain one trait: is it there, who added it, and why is it removed.

Pure: no I/O, configuration, logging or clock. ``compute-agent explain`` prints
it. Placement shows if the trait is there, the agent's record shows who added
it and which sources claim it, and the next plan shows if it will be added or
removed.
"""

import dataclasses
import enum
from collections.abc import Iterable, Mapping

from ...plan import removal
from ...plan.change import Change
from ...tree import assertion, provider
from ..record import Record


class State(enum.Enum):
    """The state of one trait on one provider, in the words people read."""

    OURS = 'there: this agent added it'
    SHARED = 'there: another added it, and this agent wants it too'
    OTHERS = 'there: another added it'
    DUE = 'not there, and the next sync adds it'
    LEAVING = 'there, and the next sync removes it'
    ABSENT = 'not there'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One trait on one provider.

    :ivar claimed_by: the sources that claim it; a source that claims it for
        another node is given with that node
    :ivar cause: why the next sync removes the trait; None if it stays
    :ivar is_deleted: True if the next sync deletes the whole provider
    """

    provider: provider.Provider
    state: State
    claimed_by: tuple[str, ...] = ()
    cause: removal.Cause | None = None
    is_deleted: bool = False

    @property
    def why(self) -> str:
        """The cause in words; empty if the cause is unknown."""
        if self.cause is None:
            return ''
        prefix = 'its provider is deleted: ' if self.is_deleted else ''
        return f'{prefix}{self.cause}'


def explain(
    trait: str,
    before: provider.Snapshot,
    after: provider.Snapshot,
    record: Record,
    changes: Iterable[Change] = (),
) -> list[Explanation]:
    """Return the explanation of the trait for each of these providers.

    :param before: the providers as placement has them
    :param after: the providers as the next sync would leave them
    :param changes: the changes that the next sync would make
    """
    causes = _causes(trait, changes)
    return [
        _explanation(
            trait, before.get(uuid), after.get(uuid), record, causes.get(uuid)
        )
        for uuid in dict.fromkeys((*before, *after))
    ]


def _causes(
    trait: str, changes: Iterable[Change]
) -> Mapping[str, removal.Cause]:
    """Return why the next sync removes the trait, by provider."""
    key = (assertion.Kind.TRAIT, trait)
    return {
        change.uuid: change.cause
        for change in changes
        if change.is_removal
        and change.cause is not None
        and (change.kind is None or (change.kind, change.name) == key)
    }


def _explanation(
    trait: str,
    now: provider.Provider | None,
    wanted: provider.Provider | None,
    record: Record,
    cause: removal.Cause | None,
) -> Explanation:
    shown = now or wanted
    if shown is None:
        raise AssertionError  # the trait is in one of the two snapshots
    key = (shown.uuid, assertion.Kind.TRAIT)
    claimed_by = tuple(
        source for source, names in record.claimants(key) if trait in names
    )
    state = _state(
        there=now is not None and trait in now.traits,
        stays=wanted is not None and trait in wanted.traits,
        ours=trait in record.ours.get(key, frozenset()),
        claimed=bool(claimed_by),
    )
    return Explanation(
        provider=shown,
        claimed_by=claimed_by,
        state=state,
        cause=cause if state is State.LEAVING else None,
        is_deleted=wanted is None,
    )


def _state(*, there: bool, stays: bool, ours: bool, claimed: bool) -> State:
    if not there:
        return State.DUE if stays else State.ABSENT
    if not stays:
        return State.LEAVING
    if ours:
        return State.OURS
    return State.SHARED if claimed else State.OTHERS
