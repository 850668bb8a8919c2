# SPDX-License-Identifier: Apache-2.0
"""The cost of a shared database, and of a take-over.

``make bench-fleet`` runs this: the same nodes are reported by an agent alone,
and by one of a fleet whose database is on the same PostgreSQL as placement's.
Both do their cycles by turns, in one run. Then the holder leaves, and a standby
takes the share over. A row has the median of its cycles. The ratio is the time
of the agent alone, divided by that of the row; below 1, the row is slower. The
last rows belong together: a take-over lists the driver's nodes once. It prints
figures and no verdict.
"""

import argparse
import contextlib
import pathlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import opening
from compute_agent.cmd.wiring.agent import Agent
from compute_agent.cycle.node import node_result
from compute_agent.virt.drivers import Drivers

from . import measure
from .sync_cycles import (
    cloud,
    placement_server,
    postgresql,
    synthetic_driver,
)

NODES, REPEATS = 1000, 5
_CONF = """\
[DEFAULT]
state_path = {state}
[placement]
auth_type = admin_token
endpoint = {url}
token = admin
[compute_agent]
share = bench
{shared}
"""


class RacksDriver(synthetic_driver.SyntheticDriver):
    """Describes nodes of which several agents may have parts, as Ironic's does."""

    @property
    def node_filter(self) -> Mapping[str, str]:
        """All nodes: so the agent puts its mark on them."""
        return {}


class Bench:
    """The agents of one placement.

    :param shared: the URL of the shared database; empty for an agent alone
    """

    def __init__(
        self,
        server: placement_server.PlacementServer,
        folder: pathlib.Path,
        shared: str,
        nodes: int,
    ) -> None:
        self._server = server
        self._folder = folder
        self._shared = shared and f'state_connection = {shared}'
        self._nodes = nodes

    @contextlib.contextmanager
    def agent(self, name: str) -> Iterator[Agent]:
        """Lend an agent with a state directory of this name."""
        state = self._folder / name
        state.mkdir(parents=True, exist_ok=True)
        file = self._folder / f'{name}.conf'
        file.write_text(
            _CONF.format(
                state=state, url=self._server.url, shared=self._shared
            )
        )
        options = main.GlobalOptions(
            config_files=[str(file)], config_dirs=[], debug=False
        )
        driver = RacksDriver()
        driver.source = cloud.listing(self._nodes)
        with opening.open_agent(
            configuration.load(options),
            read_only=False,
            by=opening.DAEMON,
            instead=Drivers.only(driver),
        ) as made:
            yield made

    def time(self, work: Callable[[], object]) -> measure.Run:
        """Return what some work costs."""
        mark = self._server.mark()
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return measure.Run(
            wall=time.perf_counter() - wall,
            cpu=time.process_time() - cpu,
            requests=sum(self._server.since(mark).values()),
        )


def cycle(agent: Agent) -> None:
    """Do what the daemon does in a turn of a holder."""
    if agent.sharing is not None and not agent.sharing.is_ready():
        raise SystemExit('the agent does not hold the share')
    for result in agent.tracker.sync():
        if result.status is not node_result.Status.DONE:
            raise SystemExit(f'{result.node}: {result.reason}')


def begin(agent: Agent) -> None:
    """Take the lease, if there is one."""
    if agent.sharing is not None:
        agent.sharing.membership.start()


def end(agent: Agent) -> None:
    """Leave the lease, if there is one."""
    if agent.sharing is not None:
        agent.sharing.membership.close()
        agent.sharing.membership.leave()


def stand_by(agent: Agent) -> None:
    """Do what the daemon does in a turn of a standby."""
    if agent.sharing is not None:
        agent.sharing.is_ready()
    agent.stand_by(lambda: True)


def compared(
    alone: Bench, fleet: Bench, repeats: int
) -> Iterator[tuple[str, dict[str, list[measure.Run]]]]:
    """Yield each scenario, and its runs by row."""
    benches = {'alone': alone, 'in a fleet': fleet}
    with contextlib.ExitStack() as stack:
        agents = {
            row: stack.enter_context(bench.agent('one'))
            for row, bench in benches.items()
        }
        for one in agents.values():
            begin(one)
        for title, times in (('first sync', 1), ('steady cycle', repeats)):
            runs: dict[str, list[measure.Run]] = {row: [] for row in benches}
            for _ in range(times):
                for row, bench in benches.items():
                    found = bench.time(lambda row=row: cycle(agents[row]))
                    runs[row].append(found)
            yield title, runs
        for one in agents.values():
            end(one)
    runs = {row: [] for row in benches}
    for _ in range(repeats):
        for row, bench in benches.items():
            with bench.agent('one') as again:
                begin(again)
                runs[row].append(bench.time(lambda made=again: cycle(made)))
                end(again)
    yield 'restart', runs


def taken_over(
    fleet: Bench, repeats: int
) -> tuple[str, dict[str, list[measure.Run]]]:
    """Return the scenario of a take-over, and its runs by row."""
    runs: dict[str, list[measure.Run]] = {
        'the listing of the driver': [],
        'a standby, after its start': [],
        'a standby, later': [],
        'its first cycle as the holder': [],
    }
    for _ in range(repeats):
        with fleet.agent('one') as holder, fleet.agent('two') as standby:
            begin(holder)
            cycle(holder)
            begin(standby)
            works: Sequence[Callable[[], object]] = (
                standby.tracker.nodes,
                lambda made=standby: stand_by(made),
                lambda made=standby: stand_by(made),
            )
            for some, work in zip(runs.values(), works, strict=False):
                some.append(fleet.time(work))
            end(holder)
            part = standby.sharing
            while part is None or part.membership.epoch is None:
                time.sleep(0.01)
            found = fleet.time(lambda made=standby: cycle(made))
            runs['its first cycle as the holder'].append(found)
            end(standby)
    return 'take-over', runs


def run(words: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--nodes', type=int, default=NODES)
    parser.add_argument('--repeats', type=int, default=REPEATS)
    asked = parser.parse_args(words)
    with contextlib.ExitStack() as stack:
        folder, known = stack.enter_context(
            postgresql.temporary(placement_server.free_port())
        )
        known.create('shared')
        shared = known.url('shared').replace('psycopg2', 'psycopg')
        benches = []
        for name, url in (('alone', ''), ('fleet', shared)):
            own = folder / name
            own.mkdir()
            placement_server.prepare(known, name, own)
            port = placement_server.free_port()
            server = stack.enter_context(
                placement_server.started(known, name, own, port)
            )
            benches.append(Bench(server, own, url, asked.nodes))
        every = [*compared(*benches, asked.repeats)]
        every.append(taken_over(benches[1], asked.repeats))
        for title, runs in every:
            found = {row: measure.summary(some) for row, some in runs.items()}
            sys.stdout.write(
                f'{title}, {asked.nodes} nodes\n{measure.table(found)}\n\n'
            )


if __name__ == '__main__':
    run(sys.argv[1:])
