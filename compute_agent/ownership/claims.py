# SPDX-License-Identifier: Apache-2.0
"""Who holds which names of one provider and kind, and which of them go.

Pure: no I/O, configuration, logging or clock. A source holds what it asserts;
what it does not visit stays as it is; a name goes when it is ours and nobody
holds it any more, when it is removed by name, or when an exclusive source
leaves it out. ``resolve.py`` asks for each provider and kind.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from ..tree import assertion
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
    """

    names: frozenset[str]
    claims: Claims
    foreign: frozenset[str]
    masked: frozenset[str]
    restored: frozenset[str]
    left: frozenset[str]


def settle(part: Part, policy: Policy) -> Settled:
    """Return which names the provider should carry, and what of them is new."""
    masked = _masked(part, policy)
    claims = _claims_after(part.said, part.claims, masked)
    claimed = union(claims.values()) | part.others
    gone = _gone(part, policy, claimed, masked)
    asserted = union(a.names for a in part.said.values()) - masked
    reasserted = asserted & union(part.claims.values())
    return Settled(
        names=(part.before - gone) | asserted,
        claims=claims,
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


def _gone(
    part: Part,
    policy: Policy,
    claimed: frozenset[str],
    masked: frozenset[str],
) -> frozenset[str]:
    """Return the names that go."""
    free, said = part.before - claimed, part.said
    gone = free & part.ours
    gone |= free & union(a.removed for a in said.values())
    spoken = said.get(assertion.DRIVER)
    if spoken is not None:
        gone |= {
            n
            for n in free
            if (n in masked or not spoken.keep) and _decides(part, policy, n)
        }
    if part.whole and any(a.exclusive and not a.keep for a in said.values()):
        gone |= {n for n in free if not is_protected(n)}
    return gone | (free & frozenset(policy.orders.prune))


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
