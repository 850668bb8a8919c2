# SPDX-License-Identifier: Apache-2.0
"""The time from a change in Ironic to placement, and what the agent costs Ironic.

``make bench-ironic`` runs this: a real Ironic with fake hardware and SQLite, a
real placement on PostgreSQL, and the daemon with its default options. In the
first table are the seconds from Ironic's answer to a change until placement
shows it. The second one has the processor time of Ironic's process (API and
conductor) and the requests that it gets, as they are in an hour:

* *before*: a list with traits each minute, as with ``changes_interval = 0``;
* *quiet*: the daemon, while nothing changes;
* *1 % a minute*: the daemon, while so many nodes go into maintenance or come
  back.

The time that Ironic takes for itself, and for these changes, is measured without
an agent and subtracted. An hour is made of the minutes that were measured, and of
the lists that fall into an hour and not into these minutes: each kind of list is
measured by itself, three times. It prints figures and no verdict.
"""

import argparse
import contextlib
import dataclasses
import itertools
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from ironic_fixture import Ironic

from demo import local_ironic
from drivers.ironic import reader
from drivers.ironic.nodes import node

from . import measure
from .sync_cycles import placement_server, postgresql, processor_time

NODES, ROUNDS, SECONDS = 1000, 10, 180.0
TRAITS = [f'CUSTOM_TRAIT_{number:02}' for number in range(20)]
CYCLE = 60.0
SETTLED = 2.5 * CYCLE  # the third cycle is the first one without a list
POLL = 0.1
PATIENCE = 180.0
_CONF = """\
[DEFAULT]
compute_driver = ironic
state_path = {state}
update_resources_interval = {cycle:.0f}
periodic_fuzzy_delay = 0
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[ironic]
auth_type = none
endpoint_override = {ironic}
"""
Measured = Callable[[], contextlib.AbstractContextManager[object]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cost:
    """The work of Ironic for an agent in an hour.

    :ivar cpu: seconds of processor time
    """

    cpu: float
    requests: float

    def __add__(self, other: 'Cost') -> 'Cost':
        return Cost(
            cpu=self.cpu + other.cpu, requests=self.requests + other.requests
        )

    def times(self, factor: float) -> 'Cost':
        """Return this cost several times."""
        return Cost(cpu=factor * self.cpu, requests=factor * self.requests)


class Bench:
    """An Ironic, a placement, and nodes that are in both.

    :param measured: what surrounds each measurement
    """

    def __init__(
        self,
        server: local_ironic.LocalIronic,
        placement: placement_server.PlacementServer,
        folder: pathlib.Path,
        measured: Measured = contextlib.nullcontext,
    ) -> None:
        self._server = server
        self._placement = placement
        self._folder = folder
        self._measured = measured
        self._operator = Ironic(server)
        self._uuids: list[str] = []
        self._conf = folder / 'agent.conf'
        self._conf.write_text(
            _CONF.format(
                state=folder / 'state',
                cycle=CYCLE,
                placement=placement.url,
                ironic=server.url,
            )
        )

    def prepare(self, count: int) -> None:
        """Make the nodes; they come to placement by a first sync."""
        self._operator.available('first', 'gold', TRAITS)
        self._uuids = self._operator.copies('first', count - 1)
        times = "datetime('2026-01-01', '+' || id || ' minutes')"
        with (
            contextlib.closing(sqlite3.connect(self._server.database)) as rows,
            rows,
        ):
            rows.execute(
                f'UPDATE nodes SET created_at = {times}, updated_at = {times}'  # noqa: S608
            )
        subprocess.run(  # noqa: S603
            [*self._program(), 'sync'], check=True, stdout=subprocess.DEVNULL
        )

    def _program(self) -> Sequence[str]:
        program = pathlib.Path(sys.executable).with_name('compute-agent')
        return [str(program), '--config-file', str(self._conf)]

    @contextlib.contextmanager
    def daemon(self) -> Iterator[None]:
        """Run the daemon."""
        with (self._folder / 'agent.log').open('wb') as log:
            process = subprocess.Popen(  # noqa: S603
                [*self._program(), 'run'], stdout=log, stderr=log
            )
        with process:
            try:
                yield
            finally:
                process.terminate()

    # --- the time of a change -------------------------------------------------

    def latencies(self, rounds: int) -> Mapping[str, list[float]]:
        """Return the seconds of each kind of change."""
        found: dict[str, list[float]] = {}
        waiting: list[tuple[str, float, Callable[[], bool]]] = []
        some = iter(random.sample(self._uuids, 4 * rounds))
        with self._measured():
            for number in range(rounds):
                kinds = self._kinds(number, some)
                for kind, change in kinds.items():
                    self._watch(waiting, found, random.uniform(0, 3))  # noqa: S311
                    shows = change()
                    waiting.append((kind, time.monotonic(), shows))
                self._watch(waiting, found, random.uniform(3, 8))  # noqa: S311
            self._watch(waiting, found, PATIENCE)
        for kind, _began, _shows in waiting:
            raise SystemExit(f'{kind} is not in placement')
        return found

    def _kinds(
        self, number: int, some: Iterator[str]
    ) -> Mapping[str, Callable[[], Callable[[], bool]]]:
        """Return how to make each change; that returns what it looks like."""
        operator, trait = self._operator, f'CUSTOM_BENCH_{number}'

        def add_trait() -> Callable[[], bool]:
            uuid = next(some)
            operator.add_trait(uuid, trait)
            return lambda: self._shows(f'{uuid}/traits', trait)

        def set_class() -> Callable[[], bool]:
            uuid = next(some)
            operator.patch(uuid, resource_class=f'bench-{number}')
            wanted = f'CUSTOM_BENCH_{number}'
            return lambda: self._shows(f'{uuid}/inventories', wanted)

        def set_maintenance() -> Callable[[], bool]:
            uuid = next(some)
            operator.set_maintenance(uuid, on=True)
            wanted = '"reserved": 1'
            return lambda: self._shows(f'{uuid}/inventories', wanted)

        def create() -> Callable[[], bool]:
            made = operator.create(name=f'new-{number}', resource_class='gold')
            return lambda: self._shows(made['uuid'], 'generation')

        def delete() -> Callable[[], bool]:
            uuid = next(some)
            self._uuids.remove(uuid)
            operator.delete(uuid)
            return lambda: not self._shows(uuid, 'generation')

        return {
            'trait': add_trait,
            'resource class': set_class,
            'maintenance': set_maintenance,
            'new node': create,
            'deleted node': delete,
        }

    def _shows(self, path: str, text: str) -> bool:
        status, body = self._placement.request(
            'GET', f'/resource_providers/{path}'
        )
        return status == 200 and text in body.decode()

    def _watch(
        self,
        waiting: list[tuple[str, float, Callable[[], bool]]],
        found: dict[str, list[float]],
        seconds: float,
    ) -> None:
        """Look for changes in placement; if none is left, end at PATIENCE."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (waiting or seconds < PATIENCE):
            for one in [*waiting]:
                kind, began, shows = one
                if shows():
                    waiting.remove(one)
                    found.setdefault(kind, []).append(time.monotonic() - began)
            time.sleep(POLL)

    # --- what it costs --------------------------------------------------------

    def listing(self, fields: Sequence[str]) -> Cost:
        """Return the cost of one list of all nodes, the median of three."""
        found = []
        for _ in range(3):
            with self._measured(), self._counting() as cost:
                self._list(f'/nodes?fields={",".join(fields)}&limit=1000')
            found += cost
        return sorted(found, key=lambda one: one.cpu)[1]

    def _list(self, first: str) -> None:
        path = first
        while True:
            page = self._operator.request('GET', path)
            if 'next' not in page:
                return
            path = f'{first}&marker={page["nodes"][-1]["uuid"]}'

    def minutes(self, seconds: float) -> Cost:
        """Return the cost of an hour that is like the next seconds."""
        with self._measured(), self._counting() as cost:
            time.sleep(seconds)
        return cost[0].times(3600 / seconds)

    @contextlib.contextmanager
    def churn(self) -> Iterator[None]:
        """Change 1 % of the nodes each minute, one after the other."""
        stop = threading.Event()

        def change() -> None:
            operator = Ironic(self._server)
            step = CYCLE / (len(self._uuids) / 100)
            began = time.monotonic()
            with contextlib.closing(operator):
                for number in itertools.count():
                    due = began + number * step
                    if stop.wait(max(0.0, due - time.monotonic())):
                        return
                    uuid = self._uuids[number // 2 % len(self._uuids)]
                    operator.set_maintenance(uuid, on=number % 2 == 0)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    @contextlib.contextmanager
    def _counting(self) -> Iterator[list[Cost]]:
        cost: list[Cost] = []
        size = self._server.log.stat().st_size
        cpu = processor_time.of_tree(self._server.pid)
        yield cost
        cpu = processor_time.of_tree(self._server.pid) - cpu
        with self._server.log.open() as log:
            log.seek(size)
            requests = sum(' GET /v1/' in line for line in log)
        cost.append(Cost(cpu=cpu, requests=requests))


@contextlib.contextmanager
def made(
    count: int, measured: Measured = contextlib.nullcontext
) -> Iterator[Bench]:
    """Yield a bench with so many nodes."""
    with contextlib.ExitStack() as stack:
        folder, known = stack.enter_context(
            postgresql.temporary(placement_server.free_port())
        )
        placement_server.prepare(known, 'placement', folder)
        placement = stack.enter_context(
            placement_server.started(
                known, 'placement', folder, placement_server.free_port()
            )
        )
        server = stack.enter_context(
            local_ironic.LocalIronic(folder / 'ironic')
        )
        bench = Bench(server, placement, folder, measured)
        bench.prepare(count)
        yield bench


def costs(bench: Bench, seconds: float) -> Mapping[str, Cost]:
    """Return the costs of an hour, by row."""
    full = bench.listing(node.FIELDS)
    short = bench.listing(node.WITHOUT_TRAITS)
    lists = full + short.times(reader.INTERVAL / reader.LIST_INTERVAL - 1)
    idle = bench.minutes(seconds)
    with bench.churn():
        changing = bench.minutes(seconds)
    with bench.daemon():
        time.sleep(SETTLED)
        quiet = bench.minutes(seconds)
        with bench.churn():
            time.sleep(CYCLE)
            busy = bench.minutes(seconds)
    return {
        'before': full.times(3600 / CYCLE),
        'quiet': quiet + lists + idle.times(-1),
        '1 % a minute': busy + lists + changing.times(-1),
    }


def report(
    latencies: Mapping[str, list[float]], found: Mapping[str, Cost]
) -> str:
    """Return the two tables."""
    rows = [('seconds to placement', 'changes', 'median', 'most')]
    rows += [
        (
            kind,
            str(len(some)),
            f'{statistics.median(some):.1f}',
            f'{max(some):.1f}',
        )
        for kind, some in latencies.items()
    ]
    before = found['before'].cpu
    hours = [('an hour of Ironic', 'requests', 'CPU', 'of before')]
    hours += [
        (
            name,
            f'{one.requests:.0f}',
            f'{one.cpu:.1f} s',
            f'{one.cpu / before:.2f}',
        )
        for name, one in found.items()
    ]
    return f'{measure.aligned(rows)}\n\n{measure.aligned(hours)}\n'


def run(words: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--nodes', type=int, default=NODES)
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--seconds', type=float, default=SECONDS)
    asked = parser.parse_args(words)
    with made(asked.nodes) as bench:
        found = costs(bench, asked.seconds)
        with bench.daemon():
            time.sleep(SETTLED)
            latencies = bench.latencies(asked.rounds)
    sys.stdout.write(f'{asked.nodes} nodes\n{report(latencies, found)}')


if __name__ == '__main__':
    run(sys.argv[1:])
