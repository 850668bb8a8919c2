# SPDX-License-Identifier: Apache-2.0
"""Keep the inventory that consumers use, by asking placement for them.

Placement is asked only about providers that would lose something, and about
each of them once in a cycle while its generation stays. ``ownership/in_use.py``
decides what is kept. ``node_planner.py`` calls this, from several threads.
"""

from collections.abc import Iterable
from typing import Generic

from ...ownership import in_use
from ...plan import allocations
from ...plan.observation import Observation
from ...plan.plan import Op
from ...tree import provider
from .. import report_client


class ConsumersInUse(Generic[Op]):
    """The consumers of providers, as far as a cycle has asked for them."""

    def __init__(self, client: report_client.ReportClient[Op]) -> None:
        self._client = client
        self._asked: dict[tuple[str, int | None], allocations.Consumers] = {}

    def begin(self) -> None:
        """Forget the consumers, at the beginning of a cycle."""
        self._asked.clear()

    def keep_used(
        self,
        seen: Observation,
        after: provider.Snapshot,
        moves: tuple[allocations.Move, ...],
    ) -> tuple[provider.Snapshot, list[str]]:
        """Keep what consumers use; return the providers, and lines about it.

        Allocations that move to another provider keep nothing.
        """
        losing = in_use.at_stake(seen.providers, after)
        if not losing:
            return after, []
        moved = allocations.consumers_after(moves)
        known = seen.home if moves else frozenset[str]()
        consumers = self._consumers(
            loser for loser in losing if loser.uuid not in known
        )
        return in_use.keep_used(
            seen.providers,
            after,
            {**{uuid: moved.get(uuid, {}) for uuid in known}, **consumers},
            seen.node_uuid,
        )

    def _consumers(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, allocations.Consumers]:
        """Return the consumers of each provider.

        Allocations raise the generation. So while it stays the same, so do
        the consumers.
        """
        wanted = {(loser.uuid, loser.generation): loser for loser in providers}
        missing = {
            loser.uuid: loser
            for key, loser in wanted.items()
            if key not in self._asked
        }
        found = self._client.consumers(list(missing.values()))
        for uuid, consumers in found.items():
            self._asked[uuid, missing[uuid].generation] = consumers
        return {key[0]: self._asked[key] for key in wanted}
