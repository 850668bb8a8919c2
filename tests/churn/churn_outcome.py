# SPDX-License-Identifier: Apache-2.0
"""What came of a run: figures as a table, and what is wrong with them.

Pure. ``churn.py`` makes it from the journal and from what is there.
"""

import dataclasses
import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import agents_at_work as agents
import journal
from long_runs.daemon import Cycle

CONVERGED = 2  # cycles after the edits, in which an agent may write
QUIET = 3  # cycles after those, in which it writes nothing
WIDTH = 36  # of the table's first column
PER_CONFLICT = 6  # requests of its own: list, three reads, list, write


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome:
    """One agent's part.

    :ivar conflicts: what each 409 cost it
    :ivar waiting: cycles that gave way to the next
    :ivar in_a_row: how many did so one after another, at most
    :ivar converged_in: cycles after the edits up to its last write
    :ivar statuses: of its refused requests → how many
    """

    who: str
    rewrites: int
    cycles: int
    waiting: int
    in_a_row: int
    failed: int
    requests: int
    writes: int
    conflicts: tuple[journal.Cost, ...]
    converged_in: int
    late_writes: int
    statuses: Mapping[int, int]
    traceback: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All there is to say of a run."""

    seconds: float
    edits: int
    conflicts: int
    requests: int
    agents: tuple[AgentOutcome, ...]
    differences: tuple[str, ...]
    faults: tuple[str, ...]
    errors: tuple[journal.Request, ...]

    def problems(self) -> list[str]:
        """Return what is wrong, a line each."""
        found = [*self.differences, *self.faults]
        found += [f'{r.status} to {r.method} {r.path}' for r in self.errors]
        for one in self.agents:
            found += [f'{one.who}: {what}' for what in _problems(one)]
        return found

    def __str__(self) -> str:
        names = [one.who for one in self.agents]
        rate = f'{self.edits / self.seconds:.1f} a second'
        rest = f'{self.conflicts} conflicts of operators, '
        rest += f'{self.requests} requests in all'
        lines = [f'{self.edits} edits in {self.seconds:.0f} s: {rate}; {rest}']
        lines += [' ' * WIDTH + ''.join(f'{name:>12}' for name in names)]
        rows = zip(*(_rows(one) for one in self.agents), strict=True)
        for row in rows:
            label = row[0][0]
            lines.append(
                f'{label:{WIDTH}}' + ''.join(f'{cell:>12}' for _, cell in row)
            )
        lines.append(
            f'lost, put back or changed by who had no right: '
            f'{len(self.faults)}; not as wanted in the end: '
            f'{len(self.differences)}'
        )
        return '\n'.join(lines)


def of_agent(
    agent: agents.Agent,
    rewrites: int,
    requests: Sequence[journal.Request],
    *,
    since: float,
    over: float,
) -> AgentOutcome:
    """Return an agent's part.

    :param since: when the edits began
    :param over: when they were over
    """
    own = [r for r in requests if r.who == agent.who and r.at >= since]
    cycles = agent.daemon.since(since)
    after = agent.daemon.since(over)
    wrote = [
        sum(r.writes for r in journal.during(own, cycle)) for cycle in after
    ]
    turns = journal.by_cycle(own, cycles)
    refused = [r.status for r in own if not r.done]
    return AgentOutcome(
        who=agent.who,
        rewrites=rewrites,
        cycles=len(cycles),
        in_a_row=_in_a_row(cycles),
        waiting=sum(c.waiting for c in cycles),
        failed=sum(c.failed for c in cycles),
        requests=len(own),
        writes=sum(r.writes for r in own),
        conflicts=tuple(c for turn in turns for c in journal.costs(turn)),
        converged_in=max((n for n, w in enumerate(wrote, 1) if w), default=0),
        late_writes=sum(wrote[CONVERGED:]),
        statuses={status: refused.count(status) for status in set(refused)},
        traceback=bool(agent.daemon.tracebacks),
    )


def differences(
    wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> list[str]:
    """Return how two pictures of the provider differ, where both say."""
    lines = []
    for kind, here in wanted.items():
        there = found[kind]
        if isinstance(here, set):
            lines += [f'{kind}: {n} is missing' for n in sorted(here - there)]
            lines += [
                f'{kind}: {n} is left over' for n in sorted(there - here)
            ]
        else:
            lines += [
                f'{kind}: {rc} is {there.get(rc)}, not {value}'
                for rc, value in here.items()
                if there.get(rc) != value
            ]
    return lines


def _in_a_row(cycles: Sequence[Cycle]) -> int:
    runs = itertools.groupby(cycles, key=lambda cycle: bool(cycle.waiting))
    return max(
        (len(list(run)) for gave_way, run in runs if gave_way), default=0
    )


def _rows(one: AgentOutcome) -> Iterator[tuple[str, str]]:
    """Yield an agent's column of the table, from the first edit on."""
    costs = [cost.requests for cost in one.conflicts] or [0]
    own = [cost.of_its_own for cost in one.conflicts] or [0]
    yield 'rewritings of its tree file', str(one.rewrites)
    yield 'cycles', str(one.cycles)
    yield 'cycles that gave way to the next', str(one.waiting)
    yield 'most of them in a row', str(one.in_a_row)
    yield 'cycles that failed', str(one.failed)
    yield 'requests', str(one.requests)
    yield 'requests that write', str(one.writes)
    yield 'conflicts (409)', str(len(one.conflicts))
    yield 'requests per conflict, mean', f'{statistics.fmean(costs):.2f}'
    yield 'requests per conflict, median', f'{statistics.median(costs):.1f}'
    yield 'requests per conflict, most', str(max(costs))
    yield "the conflict's own share, mean", f'{statistics.fmean(own):.2f}'
    yield "the conflict's own share, most", str(max(own))
    yield 'cycles to converge after the edits', str(one.converged_in)
    yield f'writes in the {QUIET} cycles after', str(one.late_writes)


def _problems(one: AgentOutcome) -> Iterator[str]:
    for cost in one.conflicts:
        if cost.of_its_own > PER_CONFLICT:
            yield f'after a conflict more than {PER_CONFLICT}: {cost.sent}'
    if one.late_writes:
        yield f'{one.late_writes} writes after {CONVERGED} cycles'
    if one.failed:
        yield f'{one.failed} cycles failed'
    if one.traceback:
        yield 'a traceback in its log'
    if other := set(one.statuses) - {404, 409}:
        yield f'was answered {sorted(other)}'
