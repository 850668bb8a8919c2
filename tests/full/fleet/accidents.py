# SPDX-License-Identifier: Apache-2.0
"""Trials: something befalls the holder at a random moment, and who goes on.

``python tests/full/fleet/accidents.py --count 50 --database postgresql`` lets
each accident happen 50 times, spread over some shares which have a database and
a placement in common, and prints a table of how long each took and what was
wrong. ``test_accidents.py`` lets each happen three times.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import pathlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import databases
import described
import fleet as fleets
import ironic_fixture
from databases import galera, postgresql_pair

from demo import local_ironic

SLOWEST = (
    5.0  # seconds that a take-over may take beside the lease, half of them
)
STRIKE = 2.0  # the longest time after a change, in seconds


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one went.

    :ivar taken: seconds until the lease was another agent's
    :ivar right: seconds until placement was right
    :ivar cycles: of the new holder that had written when placement was right
    :ivar healed: seconds from the end of the fault until the agent stood by
    :ivar wrong: what may never be
    """

    fault: str
    taken: float
    right: float
    cycles: int
    healed: float
    wrong: tuple[str, ...]


def strike(
    fleet: fleets.Fleet,
    fault: str,
    rng: random.Random,
    *,
    arrives: bool = True,
) -> tuple[fleets.Fault, float]:
    """Let a fault strike the holder while it writes; say when it did.

    :param arrives: True if it has a new node to write
    """
    befalls = fleets.FAULTS[fault](fleet, fleet.holder())
    fleet.nodes.change()
    if arrives:
        fleet.nodes.arrive()
    fleet.tell()
    time.sleep(rng.uniform(0, STRIKE))
    befalls.strike()
    struck = time.monotonic()
    fleet.nodes.leave()  # deleted while its agent is away
    fleet.tell()
    databases.wait_for(
        lambda: fleet.holder() not in {'', befalls.who},
        f'another agent takes over from {befalls.who}, {fault}',
    )
    return befalls, struck


def end(fleet: fleets.Fleet, befalls: fleets.Fault) -> float:
    """End the fault when all have something to write; return the moment."""
    fleet.nodes.change()
    fleet.tell()
    befalls.end()
    return time.monotonic()


def run(fleet: fleets.Fleet, fault: str, rng: random.Random) -> Trial:
    """Let a fault befall the holder, from its begin to its end."""
    befalls, struck = strike(fleet, fault, rng)
    taken, at = time.monotonic() - struck, time.time()
    successor = fleet.daemons[fleet.holder()]
    databases.wait_for(fleet.is_right, f'right after {fault}')
    right = time.monotonic() - struck
    successor.look()
    cycles = [c for c in successor.cycles if c.ended >= at and c.operations]
    ended = end(fleet, befalls)
    befalls.wait()
    healed = time.monotonic() - ended
    databases.wait_for(fleet.is_right, f'right with {befalls.who} back')
    return Trial(
        fault=fault,
        taken=taken,
        right=right,
        cycles=len(cycles),
        healed=healed,
        wrong=_lost(fleet),
    )


def lose_commits(fleet: fleets.Fleet, fault: str, rng: random.Random) -> Trial:
    """Promote a replica that lacks the last commits; the holder may be lost too.

    ``lost take-over``: the holder dies, and the replica does not know that
    another agent took over. So nobody whom it knows goes on. A root that the
    holder creates meanwhile would wait for a person's yes (docs/fleet.md).
    """
    servers, killed = fleet.site.servers, None
    assert isinstance(servers, postgresql_pair.PostgreSQLPair)
    servers.wait_for_standby()
    servers.part()
    if fault == LOST_TAKE_OVER:
        killed, _ = strike(fleet, 'killed', rng, arrives=False)
    fleet.nodes.change()
    fleet.tell()
    time.sleep(rng.uniform(0, STRIKE))
    servers.fail_over()
    fleet.site.failed_over.append(time.time())
    struck, row = time.monotonic(), fleet.row()
    fleet.nodes.leave()
    fleet.nodes.arrive()
    fleet.tell()
    databases.wait_for(
        lambda: fleet.row() != row, f'a beat or a take-over after {fault}'
    )
    taken = time.monotonic() - struck
    databases.wait_for(fleet.is_right, f'right after {fault}')
    right = time.monotonic() - struck
    if killed:
        end(fleet, killed)
        killed.wait()
    servers.repair()
    databases.wait_for(fleet.is_right, f'right at the end of {fault}')
    return Trial(
        fault=fault,
        taken=taken,
        right=right,
        cycles=0,
        healed=0.0,
        wrong=_lost(fleet),
    )


def _lost(fleet: fleets.Fleet) -> tuple[str, ...]:
    return tuple(f'{name} lost a name' for name in fleet.lost())


LOST_COMMITS, LOST_TAKE_OVER = 'lost commits', 'lost take-over'
#: Those of one share; several shares have one at the same time.
OF_A_SHARE = ('killed', 'stopped', 'without database', 'without network')
#: Those of a whole database, by the database.
OF_ALL: dict[str, Sequence[str]] = {
    'postgresql': (LOST_COMMITS, LOST_TAKE_OVER),
    'galera': ('without cluster',),
}


def all_faults(
    some: Sequence[fleets.Fleet],
    database: str,
    count: int,
    rng: random.Random,
    tell: Callable[[Trial], object] = lambda _: None,
) -> list[Trial]:
    """Let each accident happen to one of these fleets, again and again.

    Those of a whole database happen a fifth as often; '' stands for none.

    :param tell: called with each trial
    """
    each = [*OF_A_SHARE] * count
    rng.shuffle(each)
    with concurrent.futures.ThreadPoolExecutor(len(some)) as pool:
        parts = [
            pool.submit(
                _in_turn,
                fleet,
                each[number :: len(some)],
                random.Random(rng.random()),
                tell,
            )
            for number, fleet in enumerate(some)
        ]
        done = [trial for part in parts for trial in part.result()]
        # In here: a daemon ends with the thread that started it.
        of_all = [*OF_ALL.get(database, ())] * max(1, count // 5)
        done += _in_turn(some[0], of_all, rng, tell)
        for fleet in some:  # what befell the database befell them, too
            databases.wait_for(fleet.is_right, f'{fleet.share} is right')
    return done


def _in_turn(
    fleet: fleets.Fleet,
    faults: Iterable[str],
    rng: random.Random,
    tell: Callable[[Trial], object],
) -> list[Trial]:
    done = []
    for fault in faults:
        is_loss = fault in {LOST_COMMITS, LOST_TAKE_OVER}
        done.append((lose_commits if is_loss else run)(fleet, fault, rng))
        fleet.mark(1)
        tell(done[-1])
    return done


def two_writers(
    record: pathlib.Path,
    failed_over: Sequence[float] = (),
    lease: float = 0.0,
) -> list[str]:
    """Return the writes that were done after one of a later lease.

    :param failed_over: when a database lost commits: epochs come again, and
        who had the lease in the lost commits may write until it runs out,
        but not after the next holder
    """
    highest: dict[tuple[str, int], int] = {}
    whose: dict[tuple[str, int, int], str] = {}
    wrong = []
    for line in record.read_text().splitlines():
        row = json.loads(line)
        who, epoch = row['who'], int(row['epoch'] or -1)
        share, _, letter = who.rpartition('-')
        is_done = row['method'] != 'GET' and row['status'] < 300
        if not is_done or not letter or not share:
            continue
        life = sum(moment <= row['at'] for moment in failed_over)
        if (share, life) not in highest and life:
            is_fresh = row['at'] < failed_over[life - 1] + lease
            if is_fresh and whose.get((share, life - 1, epoch)) == who:
                life -= 1
        last = highest.get((share, life), 0)
        said = f'{who} {row["method"]} {row["path"]}: epoch {epoch}'
        if epoch < last:
            wrong.append(f'{said} after {last}')
        elif whose.setdefault((share, life, epoch), who) != who:
            wrong.append(f'{said} is of {whose[share, life, epoch]}')
        highest[share, life] = max(last, epoch)
    return wrong


def lines(trials: Iterable[Trial]) -> Iterator[str]:
    """Yield a table with a line for each kind of fault: median and worst."""
    trials = list(trials)
    yield (
        f'{"accident":18}{"times":>5}{"taken over":>15}{"right":>15}'
        f'{"cycles":>8}{"stands by":>15}'
    )
    for fault in dict.fromkeys(trial.fault for trial in trials):
        of = [trial for trial in trials if trial.fault == fault]
        yield (
            f'{fault:18}{len(of):5}{_times(t.taken for t in of)}'
            f'{_times(t.right for t in of)}{max(t.cycles for t in of):8}'
            f'{_times(t.healed for t in of)}'
        )


def _times(some: Iterable[float]) -> str:
    some = list(some)
    return f'{statistics.median(some):8.1f} ({max(some):4.1f})'


def problems(
    trials: Iterable[Trial],
    record: pathlib.Path,
    failed_over: Sequence[float] = (),
    lease: float = 0.0,
) -> list[str]:
    """Return what was wrong in all trials, however long they took."""
    trials = list(trials)
    found = [line for trial in trials for line in trial.wrong]
    found += [
        f'{trial.fault}: right only in {trial.cycles} cycles'
        for trial in trials
        if trial.cycles > 1
    ]
    return found + two_writers(record, failed_over, lease)


def too_slow(trials: Iterable[Trial], lease: float) -> list[str]:
    """Return a line if half of the take-overs took too long.

    On a machine that does nothing else.
    """
    median = statistics.median(trial.taken for trial in trials)
    if median <= lease + SLOWEST:
        return []
    return [f'a take-over took {median:.1f} s (the median)']


@contextlib.contextmanager
def _ironic(home: pathlib.Path) -> Iterator[ironic_fixture.Ironic]:
    program = ironic_fixture.PROGRAM
    with (
        local_ironic.LocalIronic(home, program=program) as server,
        contextlib.closing(ironic_fixture.Ironic(server)) as operator,
    ):
        yield operator


_SERVERS = {'postgresql': postgresql_pair.running, 'galera': galera.running}


def main() -> int:
    """Run trials as the arguments say; return 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--count', type=int, default=50)
    parser.add_argument('--database', choices=_SERVERS, default='postgresql')
    parser.add_argument('--lease', type=float, default=3.0)
    parser.add_argument('--nodes', type=int, default=12)
    parser.add_argument('--shares', type=int, default=4)
    parser.add_argument('--ironic', action='store_true', help='one share of')
    parser.add_argument('--seed', type=int, default=time.time_ns())
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fleet-'))
    sys.stdout.write(f'seed {asked.seed}, logs in {folder}\n')
    trials: list[Trial] = []

    def tell(trial: Trial) -> None:
        trials.append(trial)
        sys.stdout.write(f'{trial}\n')
        sys.stdout.flush()

    with contextlib.ExitStack() as undo:
        servers = undo.enter_context(_SERVERS[asked.database]())
        site = undo.enter_context(fleets.at_a_site(folder, servers))
        nodes: list[described.Nodes] = [
            described.FakeNodes(asked.nodes, f'rack{number}-')
            for number in range(1, asked.shares + 1)
        ]
        if asked.ironic:
            operator = undo.enter_context(_ironic(folder / 'ironic'))
            nodes = [described.IronicNodes(operator, asked.nodes)]
        some = undo.enter_context(fleets.several(site, nodes, asked.lease))
        rng = random.Random(asked.seed)
        all_faults(some, asked.database, asked.count, rng, tell)
    wrong = problems(trials, site.record, site.failed_over, asked.lease)
    wrong += too_slow(trials, asked.lease)
    sys.stdout.writelines(f'{line}\n' for line in lines(trials))
    sys.stdout.writelines(f'WRONG: {line}\n' for line in wrong)
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
