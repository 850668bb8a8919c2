# SPDX-License-Identifier: Apache-2.0
"""The batches in which nodes left their driver's list.

The nodes that left in the same cycle are one batch, and
``limits/judgement.py`` judges a batch as a whole. So each node is recorded
with when it left and of how many nodes. This module does no I/O; the time is
a parameter.
"""

import dataclasses
from collections.abc import Mapping

from ...limits import blast_radius
from ...state.nodes import KnownNode
from ...virt import driver as virt

_TICK = 0.001  # seconds between two batches, at least


def newly_left(
    missing: Mapping[str, KnownNode], listed: int, now: float
) -> dict[str, KnownNode]:
    """Return the nodes that left in this cycle, with when and of how many.

    :param missing: all nodes that are not listed, with their last answers
    :param listed: the number of nodes that are listed
    :param now: seconds since the epoch
    """
    new = {
        uuid: node
        for uuid, node in missing.items()
        if node.left_at is None and node.answer is not virt.Existence.YES
    }
    earlier = (n.left_at for n in missing.values() if n.left_at is not None)
    # Each batch has a time of its own, and a later one a later time, also if
    # the clock is set back.
    left_at = max(now, max(earlier, default=0.0) + _TICK)
    return {
        uuid: dataclasses.replace(
            node, left_at=left_at, left_of=listed + len(new)
        )
        for uuid, node in new.items()
    }


def batches(missing: Mapping[str, KnownNode]) -> dict[str, blast_radius.Batch]:
    """Return for each departed node the batch that it left with."""
    together: dict[tuple[float, int], set[str]] = {}
    for uuid, node in missing.items():
        if node.left_at is not None:
            key = node.left_at, node.left_of
            together.setdefault(key, set()).add(uuid)
    found: dict[str, blast_radius.Batch] = {}
    for (left_at, of), uuids in together.items():
        answers = [missing[uuid].answer for uuid in uuids]
        batch = blast_radius.Batch(
            left_at=left_at,
            nodes=frozenset(uuids),
            unasked=sum(answer is not virt.Existence.NO for answer in answers),
            agent_nodes=of,
        )
        found |= dict.fromkeys(uuids, batch)
    return found
