# SPDX-License-Identifier: Apache-2.0
"""Everybody else: schedulers that allocate, operators that add traits.

They ask placement directly, so no fault meets them, and repeat what conflicts.
"""

import json
import random
import urllib.error
import urllib.request
import uuid
from typing import Any

import verdict

TRAIT = 'CUSTOM_OPERATORS_CHOICE'
HEADERS = {
    'X-Auth-Token': 'admin',
    'X-Roles': 'admin,service',
    'OpenStack-API-Version': 'placement 1.39',
    'Content-Type': 'application/json',
}
CONSUMERS = 30  # at most, at a time
ATTEMPTS = 10
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class OtherWriters:
    """Writers beside the agent.

    :ivar traits: provider → what they added to it
    """

    def __init__(self, url: str, seed: int) -> None:
        self._url = url
        self._rng = random.Random(seed)
        self._consumers: list[str] = []
        self.traits: dict[str, frozenset[str]] = {}
        self.allocations = 0
        self.ask('PUT', f'/traits/{TRAIT}')

    def act(self, uuids: list[str]) -> None:
        """Do one thing to one of these providers, if it is there."""
        at = self._rng.choice(uuids)
        self._rng.choice([self._allocate, self._allocate, self._trait])(at)
        if len(self._consumers) > CONSUMERS:
            self._release(self._consumers.pop(0))

    def leave(self) -> None:
        """Release all that is allocated."""
        while self._consumers:
            self._release(self._consumers.pop())

    def found(self) -> dict[str, verdict.Found]:
        """Return all that placement has."""
        _, body = self.ask('GET', '/resource_providers')
        rows = body['resource_providers']
        names = {row['uuid']: row['name'] for row in rows}
        return {
            row['uuid']: verdict.Found(
                name=row['name'],
                parent=names.get(row['parent_provider_uuid']),
                totals={
                    rc: one['total'] - one['reserved']
                    for rc, one in self._of(row, 'inventories').items()
                },
                traits=frozenset(self._of(row, 'traits')),
                aggregates=frozenset(self._of(row, 'aggregates')),
            )
            for row in rows
        }

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and decoded body."""
        request = urllib.request.Request(
            self._url + path,
            None if body is None else json.dumps(body).encode(),
            HEADERS,
            method=method,
        )
        try:
            with _DIRECT.open(request, timeout=60) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as exc:
            with exc:
                exc.read()
            return exc.code, None

    def _of(self, row: dict[str, Any], kind: str) -> Any:
        _, body = self.ask('GET', f'/resource_providers/{row["uuid"]}/{kind}')
        # It may be deleted since the list was read.
        return body[kind] if body else {}

    def _allocate(self, at: str) -> None:
        consumer = str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        status, _ = self.ask(
            'PUT',
            f'/allocations/{consumer}',
            {
                'allocations': {at: {'resources': {'VCPU': 1}}},
                'project_id': 'chaos',
                'user_id': 'chaos',
                'consumer_generation': None,
                'consumer_type': 'INSTANCE',
            },
        )
        if status == 204:
            self.allocations += 1
            self._consumers.append(consumer)

    def _release(self, consumer: str) -> None:
        for _ in range(ATTEMPTS):
            if self.ask('DELETE', f'/allocations/{consumer}')[0] in {204, 404}:
                return
        raise AssertionError(f'{consumer} cannot be released')

    def _trait(self, at: str) -> None:
        path = f'/resource_providers/{at}/traits'
        for _ in range(ATTEMPTS):
            status, held = self.ask('GET', path)
            if status != 200:
                return
            names = {**held, 'traits': [*{*held['traits'], TRAIT}]}
            if self.ask('PUT', path, names)[0] == 200:
                self.traits[at] = frozenset({TRAIT})
                return
