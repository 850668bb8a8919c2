# SPDX-License-Identifier: Apache-2.0
"""Decide which of a provider's names of one kind are kept, added or removed.

Pure: no I/O, configuration, logging or clock. A source claims the names that
it asserts, until it removes them or leaves them out of all its names
(``_claims_of``). A name that no source claims is removed by the first of these
rules that applies (``_cause``): a source removed it explicitly; this agent
added it; the driver decides it and left it out; a complete list does not
contain it; the operator ordered it. ``resolve.py`` asks for each provider and
kind.
"""

import dataclasses
from collections.abc import Container, Iterable, Mapping

from ..fleet.values import mark
from ..plan.removal import Cause, Reason
from ..tree import assertion
from ..tree.assertion import Assertion, Claims
from .policy import Policy, is_protected

_NO_NAMES = frozenset[str]()
_NO_CAUSES: Mapping[str, Cause] = {}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of the decision about one provider's names of one kind.

    :ivar before: the names in placement
    :ivar assertions: this cycle's assertions, by source
    :ivar ours: the names that this agent added; on a pool, also the names that
        it claimed
    :ivar claims: the names that each source claimed until now
    :ivar claimed_for_others: the names that are claimed for other nodes
    :ivar last_seen: the names that were there before other writers changed
        them
    :ivar departed: the sources that do not exist any more
    :ivar lists_are_complete: True if an exclusive assertion also removes
        names of other writers
    :ivar is_pool: True if only names of ``ours`` are removed; see ``pools.py``
    """

    kind: assertion.Kind
    before: frozenset[str]
    assertions: Mapping[str, Assertion]
    ours: frozenset[str]
    claims: Claims
    claimed_for_others: frozenset[str]
    last_seen: frozenset[str]
    departed: frozenset[str]
    lists_are_complete: bool
    is_pool: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The names of one kind that a provider should have, and why.

    :ivar claims: the names that each source claims for this node from now on
    :ivar causes: the names that are removed, and the cause of each
    :ivar foreign: the names that are removed although another writer added
        them
    :ivar masked: the names that are asserted but masked, and so not reported
    :ivar restored: the names that another writer removed and that are added
        again, because a source still asserts them
    :ivar unclaimed: the names that stay although no source claims them
    """

    names: frozenset[str]
    claims: Claims
    causes: Mapping[str, Cause]
    foreign: frozenset[str]
    masked: frozenset[str]
    restored: frozenset[str]
    unclaimed: frozenset[str]

    def without_removals(self, names: Container[str]) -> 'Decision':
        """Return the same decision, except that these names stay."""
        kept = {name for name in self.causes if name in names}
        return dataclasses.replace(
            self,
            names=self.names | kept,
            causes={n: c for n, c in self.causes.items() if n not in kept},
            foreign=self.foreign - kept,
        )


def are_as_recorded(
    kind: assertion.Kind,
    before: frozenset[str],
    assertions: Mapping[str, Assertion],
    claims: Claims,
    policy: Policy,
) -> bool:
    """Return True if nothing is to decide, because nothing changed.

    Each source asserts the names that it claimed, no more and no fewer, and
    together these are the names in placement. ``decide`` would find the same;
    this is a fraction of its work, for most nodes.
    """
    if _may_mask(kind, policy):
        return False
    asserted = {source: one.names for source, one in assertions.items()}
    return asserted == claims and before == union(claims.values())


def decide(inputs: Inputs, policy: Policy) -> Decision:
    """Return the names that the provider should have, and why."""
    masked = _masked(inputs, policy)
    sources = (*inputs.claims, *inputs.assertions)
    claims = {
        source: _without(_claims_of(source, inputs), masked)
        for source in sources
    }
    asserted = _without(
        union([a.names for a in inputs.assertions.values()]), masked
    )
    if not inputs.before:
        return _of_none(inputs, claims, asserted, masked)
    disputed = union([a.disputed for a in inputs.assertions.values()])
    claimed = union(claims.values()) | inputs.claimed_for_others | disputed
    causes = _causes(inputs, policy, claimed, masked)
    gone = frozenset(causes)
    reasserted = asserted & union(inputs.claims.values())
    return Decision(
        names=(inputs.before - gone) | asserted,
        claims=claims,
        causes=causes,
        foreign=frozenset(
            name
            for name in gone - inputs.ours
            if not _is_a_drivers(inputs, policy, name)
        ),
        masked=masked,
        restored=(reasserted & inputs.last_seen) - inputs.before,
        unclaimed=frozenset(
            name
            for name in inputs.before - gone - claimed - masked
            if not is_protected(name)
        ),
    )


def _of_none(
    inputs: Inputs,
    claims: Claims,
    asserted: frozenset[str],
    masked: frozenset[str],
) -> Decision:
    """Return the decision for a provider that has none of these names.

    Nothing can be removed. Each provider that the agent creates is such a
    provider.
    """
    return Decision(
        names=asserted,
        claims=claims,
        causes=_NO_CAUSES,
        foreign=_NO_NAMES,
        masked=masked,
        restored=asserted & inputs.last_seen & union(inputs.claims.values())
        if inputs.claims
        else _NO_NAMES,
        unclaimed=_NO_NAMES,
    )


def _may_mask(kind: assertion.Kind, policy: Policy) -> bool:
    """Return True if names may be masked; only traits can be."""
    return kind is assertion.Kind.TRAIT and bool(policy.orders.masked)


def _masked(inputs: Inputs, policy: Policy) -> frozenset[str]:
    """Return the names that a source asserts, or claimed, and that are masked."""
    if not _may_mask(inputs.kind, policy):
        return _NO_NAMES
    names = union(a.names for a in inputs.assertions.values())
    names |= union(inputs.claims.values())
    return frozenset(name for name in names if policy.masks(name))


def _causes(
    inputs: Inputs,
    policy: Policy,
    claimed: frozenset[str],
    masked: frozenset[str],
) -> dict[str, Cause]:
    """Return the names that are removed, and the cause of each."""
    causes = {}
    for name in inputs.before - claimed:
        cause = _cause(inputs, policy, name, is_masked=name in masked)
        if cause is not None:
            causes[name] = cause
    return causes


def _cause(
    inputs: Inputs, policy: Policy, name: str, *, is_masked: bool
) -> Cause | None:
    """Return why an unclaimed name is removed; None if it stays."""
    is_pruned = name in policy.orders.prune
    if inputs.is_pool and name not in inputs.ours:
        return Cause(reason=Reason.PRUNED) if is_pruned else None
    removing = [s for s, a in inputs.assertions.items() if name in a.removed]
    if removing:
        return _by(Reason.REMOVED, removing)
    if name in inputs.ours:
        claimants = [s for s, names in inputs.claims.items() if name in names]
        if not claimants and mark.others([name], policy.mark):
            return Cause(reason=Reason.TAKEN_OVER)
        gone = claimants and inputs.departed.issuperset(claimants)
        reason = Reason.DRIVER_GONE if gone else Reason.UNCLAIMED
        cause = _by(reason, claimants)
    elif deciding := _omitting(inputs, policy, name, is_masked=is_masked):
        cause = _by(Reason.AUTHORITY, deciding)
    elif not is_protected(name) and (sources := _complete_lists(inputs)):
        cause = _by(Reason.COMPLETE_LIST, sources)
    elif is_pruned:
        return Cause(reason=Reason.PRUNED)
    else:
        return None
    return Cause(reason=Reason.MASKED) if is_masked else cause


def _by(reason: Reason, sources: Iterable[str]) -> Cause:
    return Cause(reason=reason, sources=tuple(sorted(sources)))


def _omitting(
    inputs: Inputs, policy: Policy, name: str, *, is_masked: bool
) -> list[str]:
    """Return the drivers that decide the trait and left it out.

    A driver leaves a trait out if it gave all its names, or all names of the
    provider, without this one. Adding or removing other traits says nothing.
    """
    return [
        source
        for source, asserted in inputs.assertions.items()
        if (is_masked or asserted.ends_claims)
        and inputs.kind is assertion.Kind.TRAIT
        and policy.decides(source, name)
    ]


def _is_a_drivers(inputs: Inputs, policy: Policy, name: str) -> bool:
    """Return True if the name is a trait that a driver alone decides."""
    return inputs.kind is assertion.Kind.TRAIT and any(
        policy.decides(source, name) for source in policy.authority
    )


def _complete_lists(inputs: Inputs) -> list[str]:
    """Return the sources whose complete list removes names of others."""
    if not inputs.lists_are_complete:
        return []
    return [
        source
        for source, asserted in inputs.assertions.items()
        if asserted.exclusive and not asserted.keep
    ]


def _claims_of(source: str, inputs: Inputs) -> frozenset[str]:
    """Return the names that a source claims after this cycle's assertions.

    A driver need not repeat what it added. If such a name is gone from
    placement, it is left gone, and the claim ends. Files and the agent give
    all their names in each cycle.
    """
    earlier = inputs.claims.get(source, _NO_NAMES)
    asserted = inputs.assertions.get(source, assertion.NOTHING)
    if asserted.ends_claims:
        earlier &= asserted.disputed
    elif assertion.is_driver(source) and not asserted.keep:
        earlier &= inputs.before
    claimed = earlier | asserted.names if earlier else asserted.names
    return _without(claimed, asserted.removed)


def _without(names: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the names without the others; the same set if none are left out."""
    return names - others if others else names


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the union of these sets; a single set is returned itself."""
    filled = [one for one in sets if one]
    return filled[0] if len(filled) == 1 else _NO_NAMES.union(*filled)
