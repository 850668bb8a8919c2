# SPDX-License-Identifier: Apache-2.0
"""Decides a trait by what several sources say of it.

Pure: no I/O, configuration, logging or clock. A trait is present if one source
says so, unknown if one does not tell, and absent if all deny it.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from compute_agent.virt.values import finding

from .facts import Kind, Place

Found = finding.Found
Finding = finding.Finding

NO_ANSWER = 'libvirt tells nothing about guests'
OF_GUESTS = 'domainCapabilities of'


@dataclasses.dataclass(frozen=True, slots=True)
class Vote:
    """The decision of one source about one trait.

    :ivar source: the source; if the decision is unknown, the reason
    """

    found: Found
    fact: str
    source: str = ''


def of_kind(kind: Kind) -> Vote:
    """Return the decision that a kind of guest exists."""
    source = f'{OF_GUESTS} {kind.name}'
    if kind.root is not None:
        return Vote(Found.PRESENT, kind.request.arch, source)
    found = Found.UNKNOWN if kind.is_possible else Found.ABSENT
    return Vote(found, kind.request.arch, kind.problem)


def of_place(place: Place, kinds: Iterable[Kind]) -> list[Vote]:
    """Return the decision of each kind of guest that is possible."""
    votes = []
    for kind in kinds:
        source = f'{OF_GUESTS} {kind.name}'
        if kind.root is not None:
            votes.append(Vote(place.found(kind.root), str(place), source))
        elif kind.is_possible:
            votes.append(Vote(Found.UNKNOWN, str(place), kind.problem))
    return votes


def either(kind: Kind, places: Iterable[Place]) -> Vote | None:
    """Return the decision about one kind; one of the places is enough."""
    votes = [vote for place in places for vote in of_place(place, [kind])]
    known = [vote for vote in votes if vote.found is not Found.UNKNOWN]
    return deciding_vote(known or votes)


def deciding_vote(votes: Sequence[Vote]) -> Vote | None:
    """Return the vote that decides."""
    for found in (Found.PRESENT, Found.UNKNOWN, Found.ABSENT):
        for vote in votes:
            if vote.found is found:
                return vote
    return None


def decided(trait: str, votes: Sequence[Vote], fact: str) -> Finding:
    """Return the finding that follows from the votes."""
    vote = deciding_vote(votes)
    if vote is None:
        return finding_of(trait, Found.UNKNOWN, fact, reason=NO_ANSWER)
    if vote.found is Found.PRESENT:
        return finding_of(trait, vote.found, vote.fact, vote.source)
    return finding_of(trait, vote.found, vote.fact, reason=_reason(vote))


def _reason(vote: Vote) -> str:
    if vote.source.startswith(OF_GUESTS):
        is_unknown = vote.found is Found.UNKNOWN
        verb = 'do not mention it' if is_unknown else 'do not have it'
        return f'{vote.source} {verb}'
    return vote.source


def finding_of(
    trait: str, found: Found, fact: str, source: str = '', *, reason: str = ''
) -> Finding:
    """Return a finding; only a present one has a source."""
    return Finding(
        trait=trait,
        found=found,
        fact=fact,
        sources=(source,) if source and found is Found.PRESENT else (),
        reason=reason,
    )
