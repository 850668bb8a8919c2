# SPDX-License-Identifier: Apache-2.0
"""The real placement, not asked twice for what it said in the same state.

An answer is a function of the request and of the writes before it, so both it
and the database after it are kept under the chain of writes that led there.
Idle cycles, and what many sequences begin with, cost next to nothing. The
database itself is brought up to date only when placement is asked.
"""

import dataclasses
import typing
import zlib

import requests

from compute_agent import testing
from compute_agent.testing.fixtures import in_process, placement_contents

KEPT_ANSWERS = 20000  # some 60 MB
KEPT_DATABASES = 2000  # the same

OPERATOR = {'X-Auth-Token': 'admin', 'X-Roles': 'admin,service'}


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """A status, and a body or None."""

    status: int
    body: typing.Any = None


class Replay:
    """Placement behind a memory of its answers.

    :ivar asked: how many requests placement itself got
    """

    url = in_process.URL

    def __init__(self, placement: testing.Placement) -> None:
        self._placement = placement
        self._answers: dict[object, requests.Response] = {}
        self._databases: dict[int, bytes] = {}
        self._state = self._loaded = 0
        self.asked = 0
        self.session = in_process.session(self.ask)

    def start(self, database: bytes | None) -> None:
        """Begin with this database, or with an empty one."""
        self._placement.reset()
        if database is not None:
            self._placement.restore(database)
        self._state = self._loaded = hash(database)
        self._keep()

    def database(self) -> bytes:
        """Return a copy of the database as it is."""
        self._load()
        return self._placement.save()

    def contents(self) -> dict[str, placement_contents.Claims]:
        """Return all providers by uuid."""
        self._load()
        return self._placement.contents()

    def ask(self, sent: requests.PreparedRequest) -> requests.Response:
        """Return placement's answer."""
        version = sent.headers.get('OpenStack-API-Version')
        key = self._state, sent.method, sent.path_url, version, sent.body
        write = sent.method != 'GET'
        after = hash(key) if write else self._state
        if key not in self._answers or after not in self._databases:
            self._load()
            self._forget()
            self._answers[key] = self._ask(sent)
            if write:
                self._loaded = self._state = after
                self._keep()
        self._state = after
        return self._answers[key]

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        microversion: str = in_process.MICROVERSION,
    ) -> Answer:
        """Return placement's answer to a request of an operator."""
        version = {'OpenStack-API-Version': f'placement {microversion}'}
        got = self.session.request(
            method, self.url + path, json=body, headers=OPERATOR | version
        )
        return Answer(got.status_code, got.json() if got.content else None)

    def _ask(self, sent: requests.PreparedRequest) -> requests.Response:
        self.asked += 1
        response = self._placement._ask(sent)
        _ = response.content  # read once, for whoever comes
        return response

    def _load(self) -> None:
        if self._loaded != self._state:
            database = zlib.decompress(self._databases[self._state])
            self._placement.restore(database)
            self._loaded = self._state

    def _keep(self) -> None:
        self._databases[self._state] = zlib.compress(self._placement.save(), 1)

    def _forget(self) -> None:
        """Keep the memory small; of the present state nothing is forgotten."""
        if len(self._answers) >= KEPT_ANSWERS:
            self._answers.clear()
        if len(self._databases) >= KEPT_DATABASES:
            now = self._databases[self._state]
            self._databases = {self._state: now}
