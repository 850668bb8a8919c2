# SPDX-License-Identifier: Apache-2.0
"""Remember the consumers of providers that cycles have asked placement for.

``node_planner.py`` asks here before it asks placement.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ...plan import allocations
from ...tree import provider

# The uuid and the generation of a provider.
_Key: TypeAlias = tuple[str, int | None]


class KnownConsumers:
    """The consumers of the providers that a cycle asked about.

    Placement is asked only about providers that would lose something, and
    about each of them once in a cycle while its generation stays. The answers
    for a node whose plan waits hold until its plan does not wait any more.
    """

    def __init__(self) -> None:
        self._known: dict[_Key, allocations.Consumers] = {}
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
        self._known = {k: v for k, v in self._known.items() if k in kept}
        self._losing.clear()
        self._waiting.clear()

    def wait(self, node_uuid: str) -> None:
        """Keep the answers for a node whose plan waits for the next cycle."""
        self._waiting.add(node_uuid)

    def note_losing(
        self, node_uuid: str, losing: Iterable[provider.Provider]
    ) -> None:
        """Note the providers that a node's plan takes something from."""
        keys = frozenset(map(_key, losing))
        if keys:
            self._losing[node_uuid] = keys

    def known(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, allocations.Consumers]:
        """Return the consumers of those providers that were asked about.

        New allocations raise the generation. So while it stays the same,
        there are no more consumers.
        """
        return {
            one.uuid: self._known[_key(one)]
            for one in providers
            if _key(one) in self._known
        }

    def note(
        self,
        providers: Iterable[provider.Provider],
        consumers: Mapping[str, allocations.Consumers],
    ) -> None:
        """Note the consumers of these providers."""
        for one in providers:
            self._known[_key(one)] = consumers[one.uuid]


def _key(one: provider.Provider) -> _Key:
    return one.uuid, one.generation
