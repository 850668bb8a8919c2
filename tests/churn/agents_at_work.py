# SPDX-License-Identifier: Apache-2.0
"""Agents as processes, each with a state directory and a driver of its own.

Each reads a file of the fake driver's, which ``Author`` rewrites now and then;
a name it asserts is asserted by no other agent, but for those in ``BOTH``. Its
log is read for its cycles. ``churn.py`` starts them.
"""

import dataclasses
import pathlib
import random
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

import people
import yaml

NODE = '11111111-1111-4111-8111-111111111111'
NAME = 'node-1'
AGENTS_OWN = ('COMPUTE_NODE', 'OWNER_NOVA')
BOTH = (*AGENTS_OWN, 'HW_CPU_X86_SSE2')
STANDARD = {
    'agent-a': ('HW_CPU_X86_AVX', 'HW_CPU_X86_AVX2', 'HW_CPU_X86_VMX'),
    'agent-b': ('HW_NIC_SRIOV', 'HW_GPU_API_VULKAN', 'STORAGE_DISK_SSD'),
}
COUNTS = 'agent-a'  # the one whose driver describes inventories
_CYCLE = re.compile(
    r'^(?P<at>[\d.]+) cycle: (?P<done>\d+) done, (?P<waiting>\d+) waiting, '
    r'(?P<failed>\d+) failed; (?P<operations>\d+) operations',
    re.MULTILINE,
)


def names_of(who: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the traits and aggregates that an agent may assert alone."""
    numbers = range(people.CHOICES)
    return (
        (*STANDARD[who], *(people.trait(who, n) for n in numbers)),
        tuple(people.aggregate(who, n) for n in numbers),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """One cycle of an agent, from its log.

    :ivar began: not before this; when the one before it was over
    """

    began: float
    ended: float
    waiting: int
    failed: int
    operations: int


class Agent:
    """One agent's files, and the command that runs it."""

    def __init__(self, who: str, folder: pathlib.Path, url: str) -> None:
        self.who = who
        self.folder = folder
        self.log = folder / 'agent.log'
        self._tree = folder / 'tree.yaml'
        folder.mkdir()
        (folder / 'provider_config').mkdir()
        (folder / 'agent.conf').write_text(self._configuration(url))
        rng = random.Random(who)
        self.wanted: dict[str, set[str]] = {}
        self.totals: dict[str, int] = {}
        for change in self._changes():
            change(rng)
        self._write()

    @property
    def command(self) -> Sequence[str]:
        """What starts it."""
        program = ['-m', 'compute_agent.cmd.app.main']
        config = ['--config-file', str(self.folder / 'agent.conf')]
        return [sys.executable, *program, *config, 'run']

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
        fresh = self._tree.with_suffix('.new')
        fresh.write_text(yaml.safe_dump({'nodes': [node]}))
        fresh.replace(self._tree)

    def cycles(self) -> list[Cycle]:
        """Return the cycles so far."""
        if not self.log.exists():
            return []
        found, before = [], 0.0
        for match in _CYCLE.finditer(self.log.read_text()):
            row: Mapping[str, str] = match.groupdict()
            found.append(
                Cycle(
                    began=before,
                    ended=float(row['at']),
                    waiting=int(row['waiting']),
                    failed=int(row['failed']),
                    operations=int(row['operations']),
                )
            )
            before = float(row['at'])
        return found

    def cycles_since(self, moment: float) -> list[Cycle]:
        """Return those that began after a moment."""
        return [cycle for cycle in self.cycles() if cycle.began >= moment]

    def _configuration(self, url: str) -> str:
        return (
            '[DEFAULT]\ncompute_driver = fake\n'
            f'host = {self.who}\nstate_path = {self.folder / "state"}\n'
            'update_resources_interval = 1\ndebug = true\n'
            'logging_default_format_string = %(created).6f %(message)s\n'
            # Whoever comes second finds the root as another's.
            '[compute_agent]\nadopt_existing_roots = true\n'
            f'[fake]\nfile = {self._tree}\n'
            '[compute]\n'
            f'provider_config_location = {self.folder / "provider_config"}\n'
            f'[placement]\nauth_type = admin_token\nendpoint = {url}\n'
            f'token = admin:{self.who}\n'
        )


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
