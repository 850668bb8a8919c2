# SPDX-License-Identifier: Apache-2.0
"""The masks of [compute_agent] masked_traits that match no trait.

A mask is compared with the traits that os-traits knows, that the nodes'
providers have, and that the nodes' notes name as masked. ``plan`` and ``run``
report the others once.
"""

import fnmatch
import logging
import re
from collections.abc import Collection, Iterable, Sequence

import os_traits

from ...cycle.node.node_result import NodeResult
from ...tree.provider import Provider

LOG = logging.getLogger(__name__)

_NAME = re.compile(r'[A-Z][A-Z0-9_]+')


class UnmatchedMasks:
    """Logs the masks that match no trait, once: after the first cycle."""

    def __init__(self, masks: Collection[str]) -> None:
        self._masks = masks
        self._logged = False

    def log(self, results: Sequence[NodeResult]) -> None:
        """Log the masks, at the first call only."""
        if not self._logged:
            self._logged = True
            for line in unmatched(self._masks, results):
                LOG.warning('%s', line)


def unmatched(
    masks: Collection[str], results: Sequence[NodeResult]
) -> list[str]:
    """Return a line for each mask that matches no trait.

    The result is empty if a node could not be planned: it may have the trait.
    """
    if not masks or any(result.plan is None for result in results):
        return []

    known = set(os_traits.get_traits())
    for result in results:
        known.update(*(p.traits for p in _before(result)))
        known.update(*map(_NAME.findall, result.notes))
    return [
        f'[compute_agent] masked_traits: {mask} matches no trait, neither one '
        "of os-traits nor one of this agent's providers; correct or remove it"
        for mask in masks
        if not fnmatch.filter(known, mask)
    ]


def _before(result: NodeResult) -> Iterable[Provider]:
    return result.plan.before.values() if result.plan is not None else ()
