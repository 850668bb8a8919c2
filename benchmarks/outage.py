# SPDX-License-Identifier: Apache-2.0
"""The return of many agents after an outage of the placement that they share.

``make bench-outage`` runs this: 200 agents with the daemon's loop and default
options, threads of this process, on a real placement. Placement goes away for
ten minutes, and comes back. The table says when the agents had their first
good cycle, and how many of them in each second; then the lines of one agent's
log about the outage. ``--agents`` and ``--seconds`` change the numbers. It
prints figures and no verdict.
"""

import argparse
import collections
import contextlib
import logging
import pathlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import opening
from compute_agent.cycle import service
from compute_agent.cycle.values import schedule

from .sync_cycles import databases, placement_server

AGENTS, SECONDS = 200, 600.0
ALL_THERE = 600.0  # seconds in which all agents have their first good cycle
_CONF = """\
[DEFAULT]
compute_driver = fake
state_path = {folder}
[fake]
file = {folder}/tree.yaml
[placement]
auth_type = admin_token
endpoint = {url}
token = admin
"""
_TREE = """\
nodes:
- name: outage-{number}
  uuid: 5b7f1c52-1111-4a3e-9d1f-{number:012}
  inventories: {{VCPU: 8}}
"""


class OneAgent(threading.Thread):
    """A daemon's loop, in a thread.

    :ivar good: when each good cycle ended
    :ivar lines: the lines of its log, from INFO on
    """

    def __init__(self, folder: pathlib.Path, url: str, number: int) -> None:
        super().__init__(name=f'agent-{number}', daemon=True)
        folder.mkdir()
        (folder / 'tree.yaml').write_text(_TREE.format(number=number))
        file = folder / 'agent.conf'
        file.write_text(_CONF.format(folder=folder, url=url))
        self._options = main.GlobalOptions(
            config_files=[str(file)], config_dirs=[], debug=False
        )
        self.stop = threading.Event()
        self.good: list[float] = []
        self.lines: list[str] = []

    def run(self) -> None:
        """Run cycles until ``stop`` is set."""
        conf = configuration.load(self._options)
        with opening.open_agent(conf, read_only=False) as made:
            interval = float(conf.update_resources_interval or 60)
            self.stop.wait(schedule.fuzzy_delay(interval, interval))
            service.Service(
                made.tracker.sync,
                interval=interval,
                outage_retry=conf.compute_agent.outage_retry_interval,
                stop=self.stop,
                done=lambda _results: self.good.append(time.monotonic()),
            ).run()


class Lines(logging.Handler):
    """Gives each agent the lines that its own thread logs."""

    def __init__(self, agents: Sequence[OneAgent]) -> None:
        super().__init__(logging.INFO)
        self._agents: Mapping[str, OneAgent] = {a.name: a for a in agents}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        if record.threadName in self._agents:
            text = f'{record.levelname} {record.getMessage()}'
            self._agents[record.threadName].lines.append(text)


def measure(
    folder: pathlib.Path, count: int, seconds: float
) -> tuple[Sequence[OneAgent], float]:
    """Let placement go and return; return the agents and the moment.

    :param seconds: how long placement is away
    """
    known = databases.SQLite(folder)
    placement_server.prepare(known, 'outage', folder)
    port = placement_server.free_port()
    url = f'http://127.0.0.1:{port}'
    agents = [OneAgent(folder / f'{n}', url, n) for n in range(count)]
    logging.getLogger().addHandler(Lines(agents))
    logging.getLogger('compute_agent').setLevel(logging.INFO)
    try:
        with placement_server.started(known, 'outage', folder, port):
            for one in agents:
                one.start()
            _wait(agents, since=0.0)
            for one in agents:
                one.lines.clear()
        time.sleep(seconds)
        with placement_server.started(known, 'outage', folder, port):
            back = time.monotonic()
            _wait(agents, since=back)
    finally:
        for one in agents:
            one.stop.set()
    return agents, back


def report(agents: Sequence[OneAgent], back: float) -> Iterator[str]:
    """Yield the lines of the report."""
    first = sorted(_first(one, back) - back for one in agents)
    yield (
        f'{len(agents)} agents; first good cycle after placement answers: '
        f'median {statistics.median(first):.1f} s, the last {first[-1]:.1f} s'
    )
    seconds = collections.Counter(int(moment) for moment in first)
    yield 'second: agents'
    yield from (f'{s:6}: {seconds[s]}' for s in range(max(seconds) + 1))
    lines = collections.Counter(len(one.lines) for one in agents)
    yield f"lines in an agent's log: agents {dict(sorted(lines.items()))}"
    yield from (f'  {line}' for line in agents[0].lines)


def _wait(agents: Sequence[OneAgent], since: float) -> None:
    """Wait until each agent has had a good cycle since then."""
    deadline = time.monotonic() + ALL_THERE
    while not all(one.good and one.good[-1] >= since for one in agents):
        if time.monotonic() > deadline:
            raise SystemExit('some agents have had no good cycle')
        time.sleep(0.05)


def _first(one: OneAgent, back: float) -> float:
    return next(moment for moment in one.good if moment >= back)


def run(words: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--agents', type=int, default=AGENTS)
    parser.add_argument('--seconds', type=float, default=SECONDS)
    asked = parser.parse_args(words)
    with contextlib.ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        path = pathlib.Path(stack.enter_context(folder))
        for line in report(*measure(path, asked.agents, asked.seconds)):
            sys.stdout.write(f'{line}\n')


if __name__ == '__main__':
    run(sys.argv[1:])
