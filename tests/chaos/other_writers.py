# SPDX-License-Identifier: Apache-2.0
"""Everybody else: schedulers that allocate, operators that add traits.

They ask placement directly, so no fault meets them, and repeat what conflicts.
"""

from typing import Any

import verdict
from long_runs import writers

TRAIT = 'CUSTOM_OPERATORS_CHOICE'
CONSUMERS = 30  # at most, at a time
# The agent may delete the provider, or take its inventory, in the meantime.
MAY_FAIL = range(400, 600)


class OtherWriters:
    """Writers beside the agent.

    :ivar traits: provider → what they added to it
    """

    def __init__(self, url: str, seed: int) -> None:
        self._writer = writers.Writer(url, 'others', seed, MAY_FAIL)
        self._consumers: list[str] = []
        self.traits: dict[str, frozenset[str]] = {}
        self.allocations = 0
        self._writer.ask('PUT', f'/traits/{TRAIT}')

    def act(self, uuids: list[str]) -> None:
        """Do one thing to one of these providers, if it is there."""
        rng = self._writer.rng
        at = rng.choice(uuids)
        rng.choice([self._allocate, self._allocate, self._trait])(at)
        if len(self._consumers) > CONSUMERS:
            self._release(self._consumers.pop(0))

    def leave(self) -> None:
        """Release all that is allocated."""
        while self._consumers:
            self._release(self._consumers.pop())

    def close(self) -> None:
        """Close the connections."""
        self._writer.close()

    def found(self) -> dict[str, verdict.Found]:
        """Return all that placement has."""
        body = self._writer.ask('GET', '/resource_providers').json()
        rows = body['resource_providers']
        names = {row['uuid']: row['name'] for row in rows}
        return {
            row['uuid']: verdict.Found(
                name=row['name'],
                parent=names.get(row['parent_provider_uuid']),
                totals={
                    rc: one['total'] - one['reserved']
                    for rc, one in self._held(row, 'inventories').items()
                },
                traits=frozenset(self._held(row, 'traits')),
                aggregates=frozenset(self._held(row, 'aggregates')),
            )
            for row in rows
        }

    def _held(self, row: dict[str, Any], kind: str) -> Any:
        path = f'/resource_providers/{row["uuid"]}/{kind}'
        answer = self._writer.ask('GET', path)
        # It may be deleted since the list was read.
        return answer.json()[kind] if answer.ok else {}

    def _allocate(self, at: str) -> None:
        consumer = self._writer.consumer()
        parts = {at: {'resources': {'VCPU': 1}}}
        if self._writer.allocate(consumer, parts).ok:
            self.allocations += 1
            self._consumers.append(consumer)

    def _release(self, consumer: str) -> None:
        path = f'/allocations/{consumer}'
        answer = self._writer.guarded(lambda: self._writer.ask('DELETE', path))
        assert answer.status_code in {204, 404}, answer.text

    def _trait(self, at: str) -> None:
        if self._writer.put_name(at, 'traits', TRAIT).ok:
            self.traits[at] = frozenset({TRAIT})
