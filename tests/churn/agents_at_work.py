# SPDX-License-Identifier: Apache-2.0
"""Agents as processes, each with a state directory and a driver of its own.

``Author`` rewrites the file of each one's fake driver now and then; no two
agents assert the same name, except those in ``BOTH``. ``churn.py`` starts them.
"""

import pathlib
import random
import threading
from collections.abc import Callable, Sequence

import people
from long_runs import daemon as daemons

NODE = '11111111-1111-4111-8111-111111111111'
NAME = 'node-1'
AGENTS_OWN = ('COMPUTE_NODE', 'OWNER_NOVA')
BOTH = (*AGENTS_OWN, 'HW_CPU_X86_SSE2')
STANDARD = {
    'agent-a': ('HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_VMX'),
    'agent-b': ('HW_NIC_SRIOV', 'HW_GPU_API_VULKAN', 'STORAGE_DISK_SSD'),
}
COUNTS = 'agent-a'  # the one whose driver describes inventories


def names_of(who: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the traits and aggregates that an agent may assert alone."""
    numbers = range(people.CHOICES)
    return (
        (*STANDARD[who], *(people.trait(who, n) for n in numbers)),
        tuple(people.aggregate(who, n) for n in numbers),
    )


class Agent:
    """One agent, and what its driver describes."""

    def __init__(self, who: str, folder: pathlib.Path, url: str) -> None:
        self.who = who
        # Whoever comes second finds the root as another's.
        options = '[compute_agent]\nadopt_existing_roots = true\n'
        self.daemon = daemons.Daemon(who, folder, url, options=options)
        rng = random.Random(who)
        self.wanted: dict[str, set[str]] = {}
        self.totals: dict[str, int] = {}
        for change in self._changes():
            change(rng)
        self._write()

    def describe(self, rng: random.Random) -> None:
        """Let its driver describe something else of one kind from now on."""
        rng.choice(self._changes())(rng)
        self._write()

    def _changes(self) -> Sequence[Callable[[random.Random], None]]:
        changes = [self._new_traits, self._new_aggregates]
        return [*changes, self._new_totals] if self.who == COUNTS else changes

    def _new_traits(self, rng: random.Random) -> None:
        traits, _ = names_of(self.who)
        some = rng.sample(traits, rng.randint(1, len(traits)))
        self.wanted['traits'] = {*some, *BOTH}

    def _new_aggregates(self, rng: random.Random) -> None:
        _, aggregates = names_of(self.who)
        some = rng.sample(aggregates, rng.randint(1, len(aggregates)))
        self.wanted['aggregates'] = set(some)

    def _new_totals(self, rng: random.Random) -> None:
        self.totals = {
            rc: rng.randint(10_000, 11_000) for rc in people.CLASSES
        }

    def _write(self) -> None:
        node = {
            'name': NAME,
            'uuid': NODE,
            'traits': sorted(self.wanted['traits'] - {*AGENTS_OWN}),
            'aggregates': sorted(self.wanted['aggregates']),
            **({'inventories': self.totals} if self.totals else {}),
        }
        self.daemon.describe([node])


class Author(threading.Thread):
    """Rewrites an agent's file now and then."""

    def __init__(self, agent: Agent, pace: people.Pace) -> None:
        super().__init__(name=f'author of {agent.who}', daemon=True)
        self._agent = agent
        self._pace = pace
        self.edits = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Rewrite until told to stop."""
        rng = random.Random(self.name)
        try:
            for _ in self._pace.moments(rng):
                self._agent.describe(rng)
                self.edits += 1
        except BaseException as exc:  # noqa: BLE001 (raised where it is awaited)
            self.failure = exc
