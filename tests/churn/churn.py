# SPDX-License-Identifier: Apache-2.0
"""Two agents and twenty operators at one provider; prints what came of it.

``make churn`` runs it from the checkout, where the package ``demo`` is. How long and how many edits
a second come from COMPUTE_AGENT_CHURN_SECONDS and COMPUTE_AGENT_CHURN_EDITS.
``test_churn.py`` runs it for some seconds.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import agents_at_work as agents
import churn_outcome as outcomes
import journal
import losses
import people
from long_runs import daemon as daemons
from long_runs import writers

OPERATORS = tuple(f'operator-{n:02}' for n in range(20))
AFTER = outcomes.CONVERGED + outcomes.QUIET  # cycles, when the edits are over
PATIENCE = 120  # seconds for what takes one or two
LOOK = 0.1  # seconds from one look at a condition to the next


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much there is to be.

    :ivar least: edits; where the machine is slow, it goes on until then
    :ivar edits: of all operators, a second
    :ivar rewrites: seconds from one rewriting of a tree file to the next
    """

    seconds: float
    least: int = 0
    edits: float = 20
    rewrites: float = 1.5


class World:
    """Placement, agents and operators, each where it is at work."""

    def __init__(self, folder: pathlib.Path, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._stop = threading.Event()
        self._undo = contextlib.ExitStack()
        self.record = folder / 'requests'
        self.url = self._start_placement()
        self.agents = [
            agents.Agent(who, folder / who, self.url)
            for who in agents.STANDARD
        ]
        self.ratios = people.Ratios()
        pace = people.Pace(
            seconds=len(OPERATORS) / plan.edits, stop=self._stop
        )
        self.operators = [
            people.Operator(who, self.url, agents.NODE, self.ratios, pace)
            for who in OPERATORS
        ]
        self.authors = [
            agents.Author(
                agent, people.Pace(seconds=plan.rewrites, stop=self._stop)
            )
            for agent in self.agents
        ]

    def close(self) -> None:
        """End all that was started."""
        self._stop.set()
        self._undo.close()

    def start_agents(self) -> None:
        """Return when each has done a cycle without trouble."""
        for agent in self.agents:
            agent.daemon.start()
            self._undo.callback(agent.daemon.end)
        for agent in self.agents:
            agent.daemon.wait(
                lambda: any(
                    not (c.waiting or c.failed)
                    for c in agent.daemon.cycles  # noqa: B023 (called at once)
                ),
            )

    def edit(self) -> float:
        """Let all edit for as long as planned; return how long it was."""
        plan = self._plan
        threads: list[people.Operator | agents.Author]
        threads = [*self.operators, *self.authors]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        while (
            time.monotonic() - began < plan.seconds
            or sum(o.edits for o in self.operators) < plan.least
        ):
            if any(t.failure for t in threads) or self._stop.wait(LOOK):
                break
        self._stop.set()
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), f'{thread.name} does not end'
        for failure in filter(None, (t.failure for t in threads)):
            raise failure
        return time.monotonic() - began

    def settle(self, since: float) -> None:
        """Return when each agent has had its last cycles."""
        for agent in self.agents:
            agent.daemon.wait(
                lambda: len(agent.daemon.since(since)) >= AFTER,  # noqa: B023
            )
        for agent in self.agents:  # the first went on meanwhile
            agent.daemon.look()

    def _start_placement(self) -> str:
        return self._undo.enter_context(
            daemons.recorded_placement(self._folder, self.record)
        )


@contextlib.contextmanager
def world(folder: pathlib.Path, plan: Plan) -> Iterator[World]:
    """A world; what runs in it ends with it."""
    made = World(folder, plan)
    try:
        yield made
    finally:
        made.close()


def run(folder: pathlib.Path, plan: Plan) -> outcomes.Outcome:
    """Return what came of it."""
    with world(folder, plan) as here:
        here.start_agents()
        since = time.time()
        seconds = here.edit()
        over = time.time()
        here.settle(over)
        found = _found(here.url)
    requests = journal.read(here.record)
    replay = losses.Replay(losses.owners(OPERATORS))
    replay.all(requests)
    return outcomes.Outcome(
        seconds=seconds,
        edits=sum(o.edits for o in here.operators),
        conflicts=sum(o.conflicts for o in here.operators),
        requests=len(requests),
        agents=tuple(
            outcomes.of_agent(
                agent, author.edits, requests, since=since, over=over
            )
            for agent, author in zip(here.agents, here.authors, strict=True)
        ),
        differences=tuple(
            outcomes.differences(_wanted(here), found)
            + outcomes.differences(_replayed(replay), found)
        ),
        faults=tuple(replay.faults),
        errors=tuple(r for r in requests if r.status >= 500),
    )


def _wanted(here: World) -> dict[str, Any]:
    """Return what is to be there in the end."""
    everybody: Sequence[dict[str, set[str]]] = [
        *(agent.wanted for agent in here.agents),
        *(operator.holds for operator in here.operators),
    ]
    return {
        **{
            kind: set[str]().union(*(h.get(kind, ()) for h in everybody))
            for kind in ('traits', 'aggregates', 'consumers')
        },
        'ratios': here.ratios.wanted(),
        'totals': {k: v for a in here.agents for k, v in a.totals.items()},
    }


def _replayed(replay: losses.Replay) -> dict[str, Any]:
    return {
        **replay.names,
        'ratios': {
            rc: one.allocation_ratio for rc, one in replay.inventories.items()
        },
    }


def _found(url: str) -> dict[str, Any]:
    """Return what is there."""
    judge = writers.Writer(url, 'judge', 'judge')
    ask = judge.ask
    at = f'/resource_providers/{agents.NODE}'
    names = {
        kind: set(ask('GET', f'{at}/{kind}').json()[kind])
        for kind in ('traits', 'aggregates')
    }
    records = ask('GET', f'{at}/inventories').json()['inventories']
    allocations = ask('GET', f'{at}/allocations').json()['allocations']
    judge.close()
    return {
        **names,
        'consumers': set(allocations),
        'ratios': {rc: r['allocation_ratio'] for rc, r in records.items()},
        'totals': {rc: r['total'] for rc, r in records.items()},
    }


def main() -> int:
    """Run; return 0 if all went well."""
    plan = Plan(
        seconds=float(os.environ.get('COMPUTE_AGENT_CHURN_SECONDS', '600')),
        edits=float(os.environ.get('COMPUTE_AGENT_CHURN_EDITS', '20')),
    )
    folder = pathlib.Path(tempfile.mkdtemp(prefix='churn-'))
    outcome = run(folder, plan)
    sys.stdout.write(f'{outcome}\n')
    problems = outcome.problems()
    for problem in problems:
        sys.stdout.write(f'WRONG: {problem}\n')
    if problems:
        sys.stdout.write(f'requests and logs are in {folder}\n')
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
