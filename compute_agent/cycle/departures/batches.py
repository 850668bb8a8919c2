# SPDX-License-Identifier: Apache-2.0
"""The batches in which nodes left their driver's list.

The nodes that left in the same cycle are one batch, and
``limits/judgement.py`` judges a batch as a whole. So the record of each node
has the time when it left, and the number of nodes in the list until then. This
module does no I/O; the time is a parameter.
"""

import dataclasses
from collections.abc import Collection, Mapping

from ...limits import blast_radius
from ...state.nodes import KnownNode
from ...virt import driver as virt

_TICK = 0.001  # seconds between two batches, at least


def newly_left(
    known: Mapping[str, KnownNode], listed: Collection[str], now: float
) -> dict[str, KnownNode]:
    """Return the nodes that left in this cycle, with time and number of nodes.

    If the list has none of the known nodes, it may be that of another service.
    Then its nodes do not count, and the number is negative.

    :param known: all nodes that were listed before, with their last answers
    :param listed: the nodes that are listed
    :param now: seconds since the epoch
    """
    missing = {u: node for u, node in known.items() if u not in listed}
    new = {
        uuid: node
        for uuid, node in missing.items()
        if node.left_at is None and node.answer is not virt.Existence.YES
    }
    if not new:
        return {}
    earlier = (n.left_at for n in missing.values() if n.left_at is not None)
    # Each batch has a time of its own. A later batch has a later time, even if
    # the clock is set back.
    left_at = max(now, max(earlier, default=0.0) + _TICK)
    stays = len(missing) < len(known)
    left_of = len(listed) + len(new) if stays else -len(new)
    return {
        uuid: dataclasses.replace(node, left_at=left_at, left_of=left_of)
        for uuid, node in new.items()
    }


def partly_back(
    known: Mapping[str, KnownNode], listed: Collection[str]
) -> dict[str, KnownNode]:
    """Return the nodes of batches with a negative number, if one is back.

    A node of the batch is listed again, so the list is that of the right
    service after all.
    """
    times = {known[u].left_at for u in listed if u in known}
    return {
        uuid: dataclasses.replace(node, left_of=abs(node.left_of))
        for uuid, node in known.items()
        if node.left_of < 0 and uuid not in listed and node.left_at in times
    }


def batches(missing: Mapping[str, KnownNode]) -> dict[str, blast_radius.Batch]:
    """Return for each departed node the batch that it left with."""
    together: dict[tuple[float, int], set[str]] = {}
    for uuid, node in missing.items():
        if node.left_at is not None:
            key = node.left_at, node.left_of
            together.setdefault(key, set()).add(uuid)
    found: dict[str, blast_radius.Batch] = {}
    for (_, of), uuids in together.items():
        batch = blast_radius.Batch(
            nodes=frozenset(uuids), agent_nodes=abs(of), is_all=of < 0
        )
        found |= dict.fromkeys(uuids, batch)
    return found
