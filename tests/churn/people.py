# SPDX-License-Identifier: Apache-2.0
"""Operators who edit one provider all the time, each what is his own.

A thread each: traits, aggregates, allocations of his own, and the ratios of
classes, which are everybody's. Every edit is guarded: read, merge, write, and
again on a conflict. Each knows what he added and did not remove; ``churn.py``
starts them.
"""

import dataclasses
import random
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import requests

NAMESPACE = uuid.UUID('0c6f2d0e-51b8-4c5a-9a55-3d6c1a0f7e11')
CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
FIRST_WAIT, LAST_WAIT = 0.05, 1.0  # seconds, after a conflict
CHOICES = 4  # traits, and aggregates, that one has to add and remove
RATIOS = (1.5, 2.0, 4.0, 8.5, 16.0)
PATIENCE = 100  # conflicts over one edit
AT_A_TIME = 2  # edits; on a loaded machine more would only meet each other
OWNER = {'project_id': 'churn', 'user_id': 'churn', 'consumer_type': 'OTHER'}


def aggregate(who: str, number: int) -> str:
    """Return the uuid of somebody's aggregate."""
    return str(uuid.uuid5(NAMESPACE, f'aggregate {who} {number}'))


def trait(who: str, number: int) -> str:
    """Return the name of somebody's trait."""
    return f'CUSTOM_{who.upper().replace("-", "_")}_{number}'


class Service:
    """Placement for one person, known to it by name."""

    def __init__(self, url: str, who: str) -> None:
        self._url = url
        self._headers = {
            'X-Auth-Token': f'admin:{who}',
            'OpenStack-API-Version': 'placement 1.39',
        }
        self._session = requests.Session()
        self._session.trust_env = False

    def __call__(
        self, method: str, path: str, body: Any = None
    ) -> requests.Response:
        """Return an answer that is success or a conflict."""
        answer = self._session.request(
            method,
            self._url + path,
            json=body,
            headers=self._headers,
            timeout=60,
        )
        if not answer.ok and answer.status_code != 409:
            raise AssertionError(
                f'{method} {path}: {answer.status_code} {answer.text}'
            )
        return answer

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


class Ratios:
    """What the ratios are to be: who wrote at the highest generation says."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, tuple[int, float]] = {}

    def note(self, rc: str, generation: int, ratio: float) -> None:
        """Note a write that went through."""
        with self._lock:
            if generation > self._last.get(rc, (-1, 0.0))[0]:
                self._last[rc] = generation, ratio

    def wanted(self) -> dict[str, float]:
        """Return class → ratio."""
        return {rc: ratio for rc, (_, ratio) in self._last.items()}


@dataclasses.dataclass(kw_only=True)
class Pace:
    """How often each edits, and until when."""

    seconds: float  # from one edit to the next, on average
    stop: threading.Event
    turns: threading.Semaphore = dataclasses.field(
        default_factory=lambda: threading.Semaphore(AT_A_TIME)
    )

    def moments(self, rng: random.Random) -> Any:
        """Yield when it is time for the next edit; end when told to."""
        due = time.monotonic() + rng.uniform(0, self.seconds)
        while not self.stop.wait(max(0.0, due - time.monotonic())):
            yield
            due += rng.uniform(0.5, 1.5) * self.seconds


class Operator(threading.Thread):
    """One operator at one provider.

    :ivar holds: what he added and did not remove, by kind
    """

    def __init__(
        self, who: str, url: str, at: str, ratios: Ratios, pace: Pace
    ) -> None:
        super().__init__(name=who, daemon=True)
        self._rng = random.Random(who)
        self._service = Service(url, who)
        self._uuid = at
        self._at = f'/resource_providers/{at}'
        self._ratios = ratios
        self._pace = pace
        self._known: set[str] = set()
        self.who = who
        self.holds: dict[str, set[str]] = {
            'traits': set(),
            'aggregates': set(),
            'consumers': set(),
        }
        self.edits = 0
        self.conflicts = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Edit until told to stop."""
        kinds = [self._trait, self._aggregate, self._ratio, self._allocation]
        try:
            for _ in self._pace.moments(self._rng):
                edit = self._rng.choices(kinds, (4, 2, 2, 2))[0]
                with self._pace.turns:
                    if self._pace.stop.is_set():
                        break
                    edit()
                self.edits += 1
        except BaseException as exc:  # noqa: BLE001 (raised where it is awaited)
            self.failure = exc
        finally:
            self._service.close()

    def _trait(self) -> None:
        name = trait(self.who, self._rng.randrange(CHOICES))
        if name not in self._known:
            self._service('PUT', f'/traits/{name}')
            self._known.add(name)
        self._toggle('traits', name)

    def _aggregate(self) -> None:
        number = self._rng.randrange(CHOICES)
        self._toggle('aggregates', aggregate(self.who, number))

    def _toggle(self, kind: str, name: str) -> None:
        """Add a name, or remove one that he has added."""
        self.holds[kind] ^= {name}
        there = name in self.holds[kind]

        def edit() -> requests.Response:
            found = self._service('GET', f'{self._at}/{kind}').json()
            names = set(found[kind])
            names = names | {name} if there else names - {name}
            return self._service(
                'PUT', f'{self._at}/{kind}', {**found, kind: sorted(names)}
            )

        self._guarded(edit)

    def _ratio(self) -> None:
        rc = self._rng.choice(CLASSES)
        ratio = self._rng.choice(RATIOS)
        path = f'{self._at}/inventories/{rc}'

        def edit() -> requests.Response:
            found = self._service('GET', path).json()
            return self._service(
                'PUT', path, {**found, 'allocation_ratio': ratio}
            )

        answer = self._guarded(edit).json()
        generation = answer['resource_provider_generation']
        self._ratios.note(rc, generation, ratio)

    def _allocation(self) -> None:
        held = self.holds['consumers']
        if len(held) > self._rng.randrange(4):
            consumer = self._rng.choice(sorted(held))
            held.remove(consumer)
            self._guarded(lambda: self._allocate(consumer, {}))
        else:
            consumer = str(
                uuid.UUID(int=self._rng.getrandbits(128), version=4)
            )
            some = {self._rng.choice(CLASSES): 1}
            held.add(consumer)
            self._guarded(
                lambda: self._allocate(
                    consumer, {self._uuid: {'resources': some}}
                )
            )

    def _allocate(self, consumer: str, parts: Any) -> requests.Response:
        path = f'/allocations/{consumer}'
        found = self._service('GET', path).json()
        generation = found.get('consumer_generation')
        return self._service(
            'PUT',
            path,
            {**OWNER, 'allocations': parts, 'consumer_generation': generation},
        )

    def _guarded(
        self, edit: Callable[[], requests.Response]
    ) -> requests.Response:
        for attempt in range(PATIENCE):
            answer = edit()
            if answer.ok:
                return answer
            self.conflicts += 1
            self._step_aside(attempt)
        raise AssertionError(f'{self.who}: {PATIENCE} conflicts in a row')

    def _step_aside(self, attempt: int) -> None:
        """Wait at random, longer each time, or two never get out of step."""
        longest = min(FIRST_WAIT * 2**attempt, LAST_WAIT)
        threading.Event().wait(self._rng.uniform(0, longest))
