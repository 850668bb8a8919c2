# SPDX-License-Identifier: Apache-2.0
"""An agent among churn, faults and kills; prints what came of it.

``make chaos`` runs it from the checkout for a quarter of an hour, on a
PostgreSQL placement with two workers that it starts as the benchmark does.
COMPUTE_AGENT_CHAOS_SECONDS, _NODES and _SEED change that.
``test_chaos.py`` runs it for some seconds.
"""

import collections
import contextlib
import dataclasses
import os
import pathlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

import cloud as clouds
import faulty_proxy
import other_writers
import verdict
from long_runs import daemon as daemons

from benchmarks.sync_cycles import placement_server, postgresql

QUIET = 3  # cycles without interference, in which it must get there
REST = 3  # cycles after those, which write nothing
# The nodes lose things faster than any real fleet, and nobody answers here.
NO_LIMIT = '[compute_agent]\nmax_removed_percent = 100\n'
LOOK = 0.05  # seconds from one look to the next


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much there is to be.

    :ivar rates: the shares of requests that are struck, in turn
    :ivar turn: seconds of one rate of faults
    :ivar change: seconds from one change of the nodes to the next
    :ivar act: seconds from one act of other writers to the next
    :ivar kill: seconds from one kill to the next
    :ivar kills: the share of the time in which it is killed; then it lives on,
        and its memory is read
    :ivar least: changes; where the machine is slow, it goes on until then
    :ivar program: what the daemon is, after the interpreter
    """

    seconds: float = 900
    nodes: int = 60
    seed: int = 1
    rates: Sequence[float] = (0.01, 0.07)
    turn: float = 30
    change: float = 1
    act: float = 0.4
    kill: float = 20
    kills: float = 0.6
    least: int = 0
    program: Sequence[str] = daemons.PROGRAM


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run.

    :ivar struck: fault → requests
    :ivar settled: operations of the cycles after all was quiet
    :ivar memory: of the last life, KiB after each cycle
    """

    seconds: float
    changes: int
    allocations: int
    lives: int
    cycles: int
    requests: int
    struck: Mapping[str, int]
    differences: Sequence[str]
    settled: Sequence[int]
    memory: Sequence[int]
    tracebacks: Sequence[str]

    def __str__(self) -> str:
        grown = verdict.growth(self.memory)
        struck = ', '.join(f'{k} {n}' for k, n in sorted(self.struck.items()))
        return (
            f'{self.seconds:.0f} s, {self.changes} changes, '
            f'{self.allocations} allocations, {self.lives} lives, '
            f'{self.cycles} cycles, {self.requests} requests\n'
            f'struck: {sum(self.struck.values())} ({struck})\n'
            f'operations of the quiet cycles: {list(self.settled)}\n'
            f'memory: {_every_tenth(self.memory)} KiB; grown by {grown} KiB\n'
        )

    def problems(self) -> list[str]:
        """Return what is wrong, in lines."""
        grown = verdict.growth(self.memory) or 0
        lines = [*self.differences, *self.tracebacks]
        if any(self.settled[QUIET:]):
            lines.append(f'it goes on writing: {list(self.settled)}')
        if grown > verdict.GROWTH:
            lines.append(f'the daemon grew by {grown} KiB')
        return lines


class Run:
    """One run on a placement that is there."""

    def __init__(self, folder: pathlib.Path, url: str, plan: Plan) -> None:
        self._plan = plan
        self._rng = random.Random(plan.seed)
        self._undo = contextlib.ExitStack()
        self.faults = faulty_proxy.Faults(plan.seed)
        proxy = faulty_proxy.running(url, self.faults)
        address = self._undo.enter_context(proxy)
        self.daemon = daemons.Daemon(
            'chaos',
            folder,
            address,
            options=NO_LIMIT,
            program=plan.program,
        )
        describe = self.daemon.describe
        self.cloud = clouds.Cloud(describe, plan.nodes, plan.seed)
        self.others = other_writers.OtherWriters(url, plan.seed)
        self._undo.callback(self.others.close)

    def close(self) -> None:
        """End all that was started."""
        self.daemon.end()
        self._undo.close()

    def outcome(self) -> Outcome:
        """Let everything happen; return what came of it."""
        self.daemon.start()
        self.daemon.wait_for(1)
        seconds = self._interfere()
        self.faults.rate = 0.0
        self.others.leave()
        memory = list(self.daemon.memory)
        settled = self.daemon.wait_for(QUIET)
        differences = verdict.unexplained(
            self._differences(), self.daemon.trouble()
        )
        # A difference that nothing explains is wrong already.
        differences = differences or self._lasting()
        settled = [*settled[:QUIET], *self.daemon.wait_for(REST)]
        self.daemon.end()
        counts = self.faults.counts
        return Outcome(
            seconds=seconds,
            changes=self.cloud.changes,
            allocations=self.others.allocations,
            lives=self.daemon.lives,
            cycles=self.daemon.count,
            requests=sum(counts.values()),
            struck=collections.Counter({k: n for k, n in counts.items() if k}),
            differences=[self._with_log(line) for line in differences],
            settled=settled,
            memory=memory,
            tracebacks=[
                f'a traceback is in {log}' for log in self.daemon.tracebacks
            ],
        )

    def _interfere(self) -> float:
        """Let changes, faults and kills happen; return for how long."""
        plan, began = self._plan, time.monotonic()
        due = {'change': 0.0, 'act': 0.0, 'kill': plan.kill}
        elapsed = 0.0
        while elapsed < plan.seconds or self.cloud.changes < plan.least:
            turn = int(elapsed // plan.turn)
            self.faults.rate = plan.rates[turn % len(plan.rates)]
            for name, at in due.items():
                if elapsed >= at:
                    getattr(self, f'_{name}')(elapsed)
                    due[name] = elapsed + self._pause(getattr(plan, name))
            self.daemon.look()
            time.sleep(LOOK)
            elapsed = time.monotonic() - began
        return elapsed

    def _pause(self, average: float) -> float:
        return average * self._rng.uniform(0.5, 1.5)

    def _change(self, _elapsed: float) -> None:
        """Let the cloud change, no faster than the agent has cycles."""
        if self.cloud.changes <= self.daemon.count:
            self.cloud.change()

    def _act(self, _elapsed: float) -> None:
        self.others.act(sorted(self.cloud.wanted()))

    def _kill(self, elapsed: float) -> None:
        if elapsed < self._plan.seconds * self._plan.kills:
            self.daemon.kill()
            self.daemon.start()

    def _lasting(self) -> list[str]:
        """Return the differences that stay; what was refused may wait."""
        deadline = time.monotonic() + daemons.PATIENCE
        while found := self._differences():
            if time.monotonic() > deadline:
                break
            self.daemon.wait_for(1)
        return found

    def _with_log(self, difference: str) -> str:
        """Return a difference with what the daemon last logged about it."""
        name = difference.split(maxsplit=1)[0].rstrip(':')
        told = self.daemon.lines_about(name, clouds.derived(name))
        return '\n    '.join([difference, *told])

    def _differences(self) -> list[str]:
        return verdict.differences(
            self.cloud.wanted(), self.others.found(), self.others.traits
        )


def run(folder: pathlib.Path, url: str, plan: Plan) -> Outcome:
    """Return what comes of a run on this placement."""
    made = Run(folder, url, plan)
    try:
        return made.outcome()
    finally:
        made.close()


@contextlib.contextmanager
def placement(folder: pathlib.Path) -> Iterator[str]:
    """Yield the address of a PostgreSQL placement with two workers."""
    port = placement_server.free_port()
    with postgresql.started(folder, port) as known:
        placement_server.prepare(known, 'chaos', folder)
        port = placement_server.free_port()
        with placement_server.started(known, 'chaos', folder, port) as server:
            yield server.url


def _every_tenth(readings: Sequence[int]) -> list[int]:
    return list(readings[:: max(1, len(readings) // 10)])


def _plan() -> Plan:
    told = os.environ.get
    return Plan(
        seconds=float(told('COMPUTE_AGENT_CHAOS_SECONDS', '900')),
        nodes=int(told('COMPUTE_AGENT_CHAOS_NODES', '60')),
        seed=int(told('COMPUTE_AGENT_CHAOS_SEED', '1')),
    )


def main() -> int:
    """Run; return 0 if all went well."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='chaos-'))
    folder.chmod(0o711)  # PostgreSQL's user must pass through it
    with placement(folder) as url:
        outcome = run(folder, url, _plan())
    sys.stdout.write(f'{outcome}')
    problems = outcome.problems()
    for problem in problems:
        sys.stdout.write(f'WRONG: {problem}\n')
    sys.stdout.write(f'logs and state are in {folder}\n')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
