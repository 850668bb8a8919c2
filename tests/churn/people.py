# SPDX-License-Identifier: Apache-2.0
"""Operators who edit one provider all the time, each what is his own.

A thread each: traits, aggregates, allocations of his own, and the ratios of
classes, which are everybody's. Each knows what he added and did not remove;
``churn.py`` starts them.
"""

import dataclasses
import random
import threading
import time
import uuid
from typing import Any

import requests
from long_runs import writers

NAMESPACE = uuid.UUID('0c6f2d0e-51b8-4c5a-9a55-3d6c1a0f7e11')
CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
CHOICES = 4  # traits, and aggregates, that one has to add and remove
RATIOS = (1.5, 2.0, 4.0, 8.5, 16.0)
AT_A_TIME = 2  # edits; on a loaded machine more would only meet each other


def aggregate(who: str, number: int) -> str:
    """Return the uuid of somebody's aggregate."""
    return str(uuid.uuid5(NAMESPACE, f'aggregate {who} {number}'))


def trait(who: str, number: int) -> str:
    """Return the name of somebody's trait."""
    return f'CUSTOM_{who.upper().replace("-", "_")}_{number}'


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
        self._writer = writers.Writer(url, who, who)
        self._rng = self._writer.rng
        self._uuid = at
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
        self.failure: BaseException | None = None

    @property
    def conflicts(self) -> int:
        """How often somebody was quicker."""
        return self._writer.conflicts

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
            self._writer.close()

    def _trait(self) -> None:
        name = trait(self.who, self._rng.randrange(CHOICES))
        if name not in self._known:
            self._writer.ask('PUT', f'/traits/{name}')
            self._known.add(name)
        self._toggle('traits', name)

    def _aggregate(self) -> None:
        number = self._rng.randrange(CHOICES)
        self._toggle('aggregates', aggregate(self.who, number))

    def _toggle(self, kind: str, name: str) -> None:
        """Add a name, or remove one that he has added."""
        self.holds[kind] ^= {name}
        there = name in self.holds[kind]
        self._writer.put_name(self._uuid, kind, name, there=there)

    def _ratio(self) -> None:
        rc = self._rng.choice(CLASSES)
        ratio = self._rng.choice(RATIOS)
        path = f'/resource_providers/{self._uuid}/inventories/{rc}'

        def edit() -> requests.Response:
            found = self._writer.ask('GET', path).json()
            return self._writer.ask(
                'PUT', path, {**found, 'allocation_ratio': ratio}
            )

        answer = self._writer.guarded(edit).json()
        generation = answer['resource_provider_generation']
        self._ratios.note(rc, generation, ratio)

    def _allocation(self) -> None:
        held = self.holds['consumers']
        if len(held) > self._rng.randrange(4):
            consumer = self._rng.choice(sorted(held))
            held.remove(consumer)
            parts = {}
        else:
            consumer = self._writer.consumer()
            held.add(consumer)
            some = {self._rng.choice(CLASSES): 1}
            parts = {self._uuid: {'resources': some}}
        self._writer.guarded(lambda: self._writer.allocate(consumer, parts))
