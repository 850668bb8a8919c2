# SPDX-License-Identifier: Apache-2.0
"""The capacity that a cycle takes away: totals of resource classes that fall.

Pure: no I/O, configuration, logging or clock. A total that moves to another
provider in the view of the same node is no loss. The total of one node that
grows does not make up for another's that falls.
"""

import collections
from collections.abc import Iterable, Mapping

# Units of a class: a smaller fall, over all nodes, never needs confirmation.
FEW_UNITS = 4

Total = tuple[str, str]  # provider uuid, resource class
Totals = Mapping[Total, int]
Changes = Mapping[Total, tuple[int, int]]  # the totals before and after


def net(changes: Changes) -> dict[str, int]:
    """Return by how much each class grows; a fall is below zero."""
    found: collections.Counter[str] = collections.Counter()
    for (_, rc), (before, after) in changes.items():
        found[rc] += after - before
    return dict(found)


def losses(changes: Changes) -> dict[str, int]:
    """Return the classes that fall, each with the units that it loses."""
    return {rc: -units for rc, units in net(changes).items() if units < 0}


def exceeded(
    changes: Iterable[Changes], before: Totals, percent: float
) -> dict[str, bool]:
    """Return the classes of which a cycle takes away too much.

    The value is True if nothing is left of the class on any node.

    :param changes: those of every node of the cycle; a provider that several
        nodes change counts once
    :param before: all totals that the nodes of the cycle have
    :param percent: the largest part of a class that may go; 100 for no limit
    """
    lost: collections.Counter[str] = collections.Counter()
    grown: collections.Counter[str] = collections.Counter()
    for of_node in _each_once(changes):
        for rc, units in net(of_node).items():
            (grown if units > 0 else lost)[rc] += abs(units)
    had = _sums(before)
    found = {}
    for rc, units in lost.items():
        is_gone = units >= had[rc] > 0 and not grown[rc]
        is_fall = units >= FEW_UNITS and units * 100 > percent * had[rc]
        if percent < _NO_LIMIT and (is_gone or is_fall):
            found[rc] = is_gone
    return found


def is_within(changes: Changes, judged: Iterable[Changes]) -> bool:
    """Return True if this takes away what was judged, or hardly more."""
    providers = {uuid for uuid, _ in changes}
    agreed = losses(
        {
            total: change
            for of_node in judged
            for total, change in of_node.items()
            if total[0] in providers
        }
    )
    return all(
        units - agreed.get(rc, 0) < FEW_UNITS
        for rc, units in losses(changes).items()
    )


_NO_LIMIT = 100


def _each_once(
    changes: Iterable[Changes],
) -> list[dict[Total, tuple[int, int]]]:
    seen: set[Total] = set()
    found = []
    for of_node in changes:
        found.append({t: c for t, c in of_node.items() if t not in seen})
        seen |= of_node.keys()
    return found


def _sums(totals: Totals) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    for (_, rc), total in totals.items():
        found[rc] += total
    return found
