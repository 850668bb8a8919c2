# SPDX-License-Identifier: Apache-2.0
"""Somebody who edits providers beside the agents: an operator, a scheduler.

He asks placement directly, under a name of his own. Every edit is guarded:
read, merge, write, and again on a conflict.
"""

import random
import threading
import uuid
from collections.abc import Callable, Collection
from typing import Any

import requests

PATIENCE = 100  # conflicts over one edit
FIRST_WAIT, LAST_WAIT = 0.05, 1.0  # seconds, after a conflict
CONFLICT = 409


class Writer:
    """One of them.

    :ivar who: his name
    :ivar rng: what he does next
    :ivar conflicts: how often somebody was quicker
    """

    def __init__(
        self, url: str, who: str, seed: object, may_fail: Collection[int] = ()
    ) -> None:
        """Begin.

        :param may_fail: statuses that are no error, beside that of a conflict
        """
        self.who = who
        self.rng = random.Random(str(seed))
        self.conflicts = 0
        self._url = url
        self._may_fail = {CONFLICT, *may_fail}
        self._headers = {
            'X-Auth-Token': f'admin:{who}',
            'X-Roles': 'admin,service',
            'OpenStack-API-Version': 'placement 1.39',
        }
        self._session = requests.Session()
        self._session.trust_env = False

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def ask(
        self, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Return an answer that is success, a conflict, or may be."""
        answer = self._session.request(
            method,
            self._url + path,
            json=body,
            headers=self._headers,
            timeout=60,
        )
        if not answer.ok and answer.status_code not in self._may_fail:
            raise AssertionError(
                f'{method} {path}: {answer.status_code} {answer.text}'
            )
        return answer

    def guarded(
        self, edit: Callable[[], requests.Response]
    ) -> requests.Response:
        """Repeat an edit until nobody was quicker, and the server answers."""
        for attempt in range(PATIENCE):
            answer = edit()
            if answer.status_code != CONFLICT and answer.status_code < 500:
                return answer
            self.conflicts += 1
            # Longer each time, or two never get out of step.
            longest = min(FIRST_WAIT * 2**attempt, LAST_WAIT)
            threading.Event().wait(self.rng.uniform(0, longest))
        raise AssertionError(f'{self.who}: {PATIENCE} conflicts in a row')

    def put_name(
        self, uuid: str, kind: str, name: str, *, there: bool = True
    ) -> requests.Response:
        """Add a trait or an aggregate to a provider, or remove it."""
        path = f'/resource_providers/{uuid}/{kind}'

        def edit() -> requests.Response:
            found = self.ask('GET', path)
            if not found.ok:
                return found
            held = found.json()
            names = {*held[kind], name} if there else {*held[kind]} - {name}
            return self.ask('PUT', path, {**held, kind: sorted(names)})

        return self.guarded(edit)

    def allocate(self, consumer: str, parts: Any) -> requests.Response:
        """Let a consumer have this, once; {} is nothing."""
        path = f'/allocations/{consumer}'
        found = self.ask('GET', path).json()
        return self.ask(
            'PUT',
            path,
            {
                'allocations': parts,
                'project_id': self.who,
                'user_id': self.who,
                'consumer_type': 'OTHER',
                'consumer_generation': found.get('consumer_generation'),
            },
        )

    def consumer(self) -> str:
        """Return the uuid of a consumer that nobody has."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
