# SPDX-License-Identifier: Apache-2.0
"""Keep the inventory that consumers use, by asking placement for them.

Placement is asked only about providers that would lose something, and about
each of them once in a cycle while its generation stays. The answers for a node
whose plan waits hold until its plan does not wait any more.
``ownership/in_use.py`` decides what is kept. ``node_planner.py`` calls this,
from several threads.
"""

from collections.abc import Iterable
from typing import TypeAlias

from ...ownership import in_use
from ...plan import allocations
from ...plan.observation import Observation
from ...tree import provider
from .. import report_client

# The uuid and the generation of a provider.
_Key: TypeAlias = tuple[str, int | None]


class ConsumersInUse:
    """The consumers of providers, as far as a cycle has asked for them."""

    def __init__(self, client: report_client.ReportClient) -> None:
        self._client = client
        self._asked: dict[_Key, allocations.Consumers] = {}
        # The providers that each node's plan takes something from.
        self._losing: dict[str, frozenset[_Key]] = {}
        self._waiting: set[str] = set()

    def begin(self) -> None:
        """Forget the consumers, at the beginning of a cycle.

        If a node's plan waited in the last cycle, its consumers decide nothing
        until the plan is sent. Their end does not raise a generation, so the
        first cycle after the wait asks again.
        """
        kept = frozenset[_Key]().union(
            *(self._losing.get(uuid, ()) for uuid in self._waiting)
        )
        self._asked = {k: v for k, v in self._asked.items() if k in kept}
        self._losing.clear()
        self._waiting.clear()

    def wait(self, node_uuid: str) -> None:
        """Keep the answers for a node whose plan waits for the next cycle."""
        self._waiting.add(node_uuid)

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
        self._losing[seen.node_uuid] = frozenset(map(_key, losing))
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

        New allocations raise the generation. So while it stays the same,
        there are no more consumers.
        """
        wanted = {_key(loser): loser for loser in providers}
        missing = {
            loser.uuid: loser
            for key, loser in wanted.items()
            if key not in self._asked
        }
        found = self._client.consumers(list(missing.values()))
        for uuid, consumers in found.items():
            self._asked[uuid, missing[uuid].generation] = consumers
        return {key[0]: self._asked[key] for key in wanted}


def _key(one: provider.Provider) -> _Key:
    return one.uuid, one.generation
