# SPDX-License-Identifier: Apache-2.0
"""All checks of an audit, in the order in which they are shown.

Pure: no I/O, configuration, logging or clock. ``suspects`` says which
contents must be read before ``findings`` can judge: an audit of thousands of
providers reads those of a few.
"""

import dataclasses
from collections.abc import Sequence

from . import (
    allocations,
    children,
    cloud,
    custom_names,
    finding,
    hosts,
    identities,
    repairs,
)

_CHECKS = (
    hosts.findings,
    identities.findings,
    children.findings,
    allocations.findings,
    custom_names.findings,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suspects:
    """The providers whose contents must be read.

    :ivar traitless: may be without any contents: inventory, aggregates
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
            if judge.by_name(root).life is hosts.Life.GONE
            for one in trees[root.uuid]
        ),
    )


def findings(known: cloud.Cloud) -> list[finding.Finding]:
    """Return the results of all checks."""
    return [found for check in _CHECKS for found in check(known)]


def planned(found: Sequence[finding.Finding]) -> list[repairs.Repair]:
    """Return the repairs of the findings, in the order of the findings."""
    return [one.repair for one in found if one.repair is not None]
