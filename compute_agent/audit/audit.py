# SPDX-License-Identifier: Apache-2.0
"""All checks of an audit, in the order in which they are shown.

Pure: no I/O, configuration, logging or clock. ``suspects`` says which
contents must be read before ``findings`` can judge: an audit of thousands of
providers reads those of a few.

The check of custom names is here, too. A trait that a flavor requires is in
use, even if no provider has it. A trait that a flavor forbids must stay,
because placement refuses requests with a trait that it does not know. So only
nova's flavors tell that a trait is unused. Only the inventories of all
providers tell that a resource class is unused.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from . import allocations, children, cloud, finding, hosts, peers, shapes

Kind = finding.Kind


def _custom_name_findings(known: cloud.Cloud) -> Iterator[finding.Finding]:
    """Yield the names that nobody uses, or that nobody can use."""
    for name in sorted(known.placement.unused_traits - known.nova.forbidden):
        yield _unused_trait(known.nova, name)
    yield from _classes(known.placement, known.nova)
    for name in sorted(known.placement.missing_traits):
        yield finding.Finding(
            kind=Kind.MISSING_TRAIT,
            level=finding.Level.NOTE,
            subject=name,
            why='the os-traits library of placement is older than the one '
            'here, and lacks this trait',
            advice='upgrade os-traits there, and restart placement',
        )


def _unused_trait(nova: cloud.Nova, name: str) -> finding.Finding:
    flavors = nova.flavors.get(name)
    if flavors:
        return finding.Finding(
            kind=Kind.WANTED_TRAIT,
            subject=name,
            why='no provider has it, but a flavor requires it: '
            + ', '.join(flavors),
            advice='no host can meet this flavor: give the trait to a '
            'provider, or change the flavor',
        )
    if nova.problem:
        return finding.Finding(
            kind=Kind.UNUSED_TRAIT,
            level=finding.Level.UNKNOWN,
            subject=name,
            why='no provider has it, but a flavor may need it: nova did not '
            'answer for its flavors',
            advice='if no flavor needs it: compute-agent trait delete NAME',
        )
    return finding.Finding(
        kind=Kind.UNUSED_TRAIT,
        subject=name,
        why='no provider has it, and no flavor requires it',
        advice='audit --repair deletes it',
        repair=finding.DeleteTrait(name=name),
    )


def _classes(
    placement: cloud.Placement, nova: cloud.Nova
) -> Iterator[finding.Finding]:
    if not placement.is_complete or placement.changing:
        return
    used = {
        rc for one in placement.contents.values() for rc in one.inventories
    }
    for name in sorted(placement.custom_classes - used):
        yield _unused_class(nova, name)


def _unused_class(nova: cloud.Nova, name: str) -> finding.Finding:
    why = 'no provider has an inventory of this resource class'
    flavors = nova.wanted_classes.get(name)
    if flavors:
        return finding.Finding(
            kind=Kind.WANTED_CLASS,
            subject=name,
            why=f'{why}, but a flavor asks for it: {", ".join(flavors)}',
            advice='no host can meet this flavor: look at the drivers that '
            'report this class, or change the flavor',
        )
    if nova.problem:
        return finding.Finding(
            kind=Kind.UNUSED_CLASS,
            subject=name,
            why=f'{why}; nova did not answer for its flavors',
            advice='if no flavor needs it: compute-agent resource class '
            'delete NAME',
        )
    return finding.Finding(
        kind=Kind.UNUSED_CLASS,
        subject=name,
        why=f'{why}, and no flavor asks for it',
        advice='audit --repair deletes it',
        repair=finding.DeleteClass(name=name),
    )


_CHECKS = (
    hosts.findings,
    hosts.identity_findings,
    hosts.share_findings,
    children.findings,
    allocations.findings,
    allocations.left_findings,
    peers.findings,
    shapes.findings,
    _custom_name_findings,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """The providers whose contents must be read.

    :ivar traitless: the providers without traits; they may have no contents
    :ivar dead: providers in trees of hosts that seem to be gone: all contents
    """

    traitless: frozenset[str]
    dead: frozenset[str]


def suspects(known: cloud.Cloud) -> Suspects:
    """Return the providers whose contents decide a verdict."""
    judge, trees = hosts.Hosts(known), known.placement.trees()
    return Suspects(
        traitless=known.placement.traitless - known.agent.recorded,
        dead=frozenset(
            one.uuid
            for root in known.placement.roots()
            if judge.by_name(root).is_dead
            for one in trees[root.uuid]
        ),
    )


def findings(known: cloud.Cloud) -> list[finding.Finding]:
    """Return the results of all checks."""
    return [found for check in _CHECKS for found in check(known)]


def planned(found: Sequence[finding.Finding]) -> list[finding.Repair]:
    """Return the repairs of the findings, in the order of the findings."""
    return [one.repair for one in found if one.repair is not None]
