# SPDX-License-Identifier: Apache-2.0
"""Who holds which names of one provider and kind, and which of them go.

Pure: no I/O, configuration, logging or clock. A source holds what it asserts;
what it does not visit stays as it is; a name goes when it is ours and nobody
holds it any more, when it is removed by name, or when an exclusive source
leaves it out. ``resolve.py`` asks for each provider and kind.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion, removal
from ..tree.assertion import Claims
from .policy import Policy, is_protected

_NONE = frozenset[str]()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One provider's names of one kind, as it was and as it is asserted.

    :ivar before: what placement has
    :ivar said: this cycle's assertions, by source
    :ivar ours: what this agent added
    :ivar held: what each source held when it last visited
    :ivar others: what is held for other nodes, which speak of it too
    :ivar was: what was there before others changed it
    :ivar whole: an exclusive set takes away what nobody holds
    """

    kind: assertion.Kind
    before: frozenset[str]
    said: Mapping[str, assertion.Assertion]
    ours: frozenset[str]
    claims: Claims
    others: frozenset[str]
    was: frozenset[str]
    whole: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What the provider should carry of one kind, and why.

    :ivar held: which source holds what for this node from now on
    :ivar foreign: what goes although another put it there
    :ivar masked: what is asserted and not reported
    :ivar restored: what another removed and a source still asserts
    :ivar left: what stays although no source holds it
    :ivar causes: why each name that goes does
    """

    names: frozenset[str]
    claims: Claims
    causes: Mapping[str, removal.Cause]
    foreign: frozenset[str]
    masked: frozenset[str]
    restored: frozenset[str]
    left: frozenset[str]


def settle(part: Part, policy: Policy) -> Settled:
    """Return which names the provider should carry, and what of them is new."""
    masked = _masked(part, policy)
    claims = _claims_after(part.said, part.claims, masked)
    claimed = union(claims.values()) | part.others
    causes = _causes(part, policy, claimed, masked)
    gone = causes.keys()
    asserted = union(a.names for a in part.said.values()) - masked
    reasserted = asserted & union(part.claims.values())
    return Settled(
        names=(part.before - gone) | asserted,
        claims=claims,
        causes=causes,
        foreign=frozenset(
            n for n in gone - part.ours if not _decides(part, policy, n)
        ),
        masked=masked,
        restored=(reasserted & part.was) - part.before,
        left=frozenset(
            n
            for n in part.before - gone - claimed - masked
            if not is_protected(n)
        ),
    )


def _masked(part: Part, policy: Policy) -> frozenset[str]:
    """Return what a source asserts, or asserted, and is not reported."""
    if part.kind is not assertion.Kind.TRAIT:
        return _NONE
    every = union(a.names for a in part.said.values())
    every |= union(part.claims.values())
    return frozenset(n for n in every if policy.masks(n))


def _causes(
    part: Part,
    policy: Policy,
    claimed: frozenset[str],
    masked: frozenset[str],
) -> dict[str, removal.Cause]:
    """Return why each name goes, by name; a name without a cause stays."""
    found = {}
    for name in part.before - claimed:
        cause = _cause(part, policy, name, is_masked=name in masked)
        if cause is not None:
            found[name] = cause
    return found


def _cause(
    part: Part, policy: Policy, name: str, *, is_masked: bool
) -> removal.Cause | None:
    """Return why a name goes that no source claims, None if it stays.

    The first rule that applies is the cause.
    """
    said = part.said
    if removers := [s for s, a in said.items() if name in a.removed]:
        return _cause_of(removal.Reason.REMOVED, removers)
    if name in part.ours:
        claimants = [s for s, names in part.claims.items() if name in names]
        cause = _cause_of(removal.Reason.UNCLAIMED, claimants)
    elif _driver_drops(part, policy, name, is_masked=is_masked):
        cause = _cause_of(removal.Reason.AUTHORITY, [assertion.DRIVER])
    elif not is_protected(name) and (complete := _complete_lists(part)):
        cause = _cause_of(removal.Reason.COMPLETE_LIST, complete)
    elif name in policy.orders.prune:
        return removal.Cause(reason=removal.Reason.PRUNED)
    else:
        return None
    return removal.Cause(reason=removal.Reason.MASKED) if is_masked else cause


def _driver_drops(
    part: Part, policy: Policy, name: str, *, is_masked: bool
) -> bool:
    """Return True if the driver decides the trait and leaves it out."""
    driver = part.said.get(assertion.DRIVER)
    return (
        driver is not None
        and (is_masked or not driver.keep)
        and _decides(part, policy, name)
    )


def _complete_lists(part: Part) -> list[str]:
    """Return the sources whose complete list removes names of others."""
    if not part.whole:
        return []
    return [s for s, a in part.said.items() if a.exclusive and not a.keep]


def _cause_of(reason: removal.Reason, sources: list[str]) -> removal.Cause:
    return removal.Cause(reason=reason, sources=tuple(sorted(sources)))


def _decides(part: Part, policy: Policy, name: str) -> bool:
    return part.kind is assertion.Kind.TRAIT and policy.decides(name)


def _claims_after(
    said: Mapping[str, assertion.Assertion],
    before: Claims,
    masked: frozenset[str],
) -> Claims:
    after = {source: claims - masked for source, claims in before.items()}
    for source, one in said.items():
        kept = after.get(source, _NONE) if one.keep else _NONE
        after[source] = (kept | one.names) - one.removed - masked
    return after


def union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return what is in any of these."""
    return _NONE.union(*sets)
