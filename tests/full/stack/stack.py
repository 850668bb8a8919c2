# SPDX-License-Identifier: Apache-2.0
"""A whole cloud and two daemons, through days of restarts and accidents.

``make stack`` runs it for an hour: keystone behind TLS, placement on
PostgreSQL, Ironic, libvirtd, and a daemon for each of the two drivers under a
supervisor that speaks systemd's protocol. A day takes a minute or two, and all
clocks go on by 24 hours. After each day placement must be right; at the end
memory, descriptors, threads and state must not have grown, and the logs must
be readable and free of secrets. The daemons themselves are killed and stopped
on the first day and in the first third of the time, and then live on, so that
growth shows. COMPUTE_AGENT_STACK_SECONDS and _SEED change that.
"""

import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator

import day as simulated
import growth
import log_reading
import secure_cloud
import wanted
import whole_cloud

PAUSE = 1.0  # seconds between two events, at most
PATIENCE = 600.0  # seconds in which placement must be right after a day
REPEATED = 8  # a day; more of the same warning or error tells nobody more
KINDS = 40  # messages that are printed of each log
PASSWORDS = (
    secure_cloud.PASSWORD,
    secure_cloud.PASSWORD.replace('$', '$$'),
)


class Outcome:
    """What was seen of the days.

    :ivar rows: for each daemon, its figures day by day
    :ivar wrong: what must not be
    :ivar lines: a summary for people
    """

    def __init__(self) -> None:
        self.rows: dict[str, list[growth.Figures]] = {}
        self.wrong: list[str] = []
        self.lines: list[str] = []

    def end_day(self, stack: whole_cloud.Stack) -> None:
        """Take in a day."""
        self.wrong += _lasting(stack)
        for name, agent in stack.agents.items():
            rows = self.rows.setdefault(name, [])
            rows.append(agent.figures())
            number = len(rows)
            sys.stdout.write(
                f'day {number}: {name}: {growth.text(rows[-1])}\n'
            )
        sys.stdout.flush()

    def judge(self, stack: whole_cloud.Stack) -> None:
        """Judge the daemons, their files and their logs."""
        self.wrong += _secrets_in_files(stack)
        for name, agent in stack.agents.items():
            if agent.aborts:
                self.wrong.append(f'{name}: {agent.aborts} watchdogs missed')
            if agent.lives != 1 + agent.kills:
                self.wrong.append(f'{name} ended by itself')
            self.wrong += growth.problems(name, self.rows[name])
            self.lines += growth.table(name, self.rows[name])
            self.lines += self._read(agent.log, len(self.rows[name]))

    def _read(self, log: pathlib.Path, days: int) -> Iterator[str]:
        """Add what must not be in a log; yield a summary of the others."""
        text = log.read_text(errors='replace')
        lines = text.splitlines()
        found = [*log_reading.problems(lines)]
        found += log_reading.repeated(lines, REPEATED * days)
        found += [
            f'a secret: {secret[:8]}…'
            for secret in log_reading.secrets(text, PASSWORDS)
        ]
        self.wrong += [f'{log.name}: {line}' for line in found[:10]]
        count = log_reading.counted(lines)
        yield f'{log.name}: ' + ', '.join(
            f'{number} {level}' for level, number in sorted(count.items())
        )
        for number, kind in log_reading.kinds(lines)[:KINDS]:
            yield f'{number:6} {kind}'


def run(folder: pathlib.Path, seconds: float, seed: int) -> Outcome:
    """Let days pass for so many seconds, at least one; return what was seen."""
    outcome, rng = Outcome(), random.Random(seed)
    with whole_cloud.running(folder) as stack:
        if not stack.disk.is_mounted:
            outcome.lines.append(
                'the disk was never full: only root mounts it'
            )
        began = time.monotonic()
        passed = 0.0
        while not outcome.rows or passed < seconds:
            simulated.Day(stack, rng, PAUSE).pass_(
                daemons_end=not outcome.rows or passed < seconds / 3
            )
            outcome.end_day(stack)
            passed = time.monotonic() - began
        outcome.judge(stack)
    return outcome


def _lasting(stack: whole_cloud.Stack) -> list[str]:
    """Return what stays wrong with placement, however long one waits."""
    deadline = time.monotonic() + PATIENCE
    while found := _differences(stack):
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    return found


def _differences(stack: whole_cloud.Stack) -> list[str]:
    held = dict(stack.held())
    host = held.pop(stack.host_uuid, None)
    lines = list(wanted.bare_metal(stack.nodes(), held))
    if host is None:
        return [*lines, 'the host is missing']
    return [*lines, *wanted.host(stack.host_at_first, host)]


def _secrets_in_files(stack: whole_cloud.Stack) -> Iterator[str]:
    """Yield the files of the daemons that have a secret in them."""
    for file in stack.kept_files():
        text = file.read_bytes().decode(errors='replace')
        if log_reading.secrets(text, PASSWORDS):
            yield f'{file.name} has a secret'


def new_folder() -> pathlib.Path:
    """Return a new folder, with a path that is short enough for sockets."""
    made = pathlib.Path(tempfile.mkdtemp(prefix='stack-', dir='/tmp'))
    made.chmod(0o711)  # PostgreSQL's user must pass through it
    return made


def main() -> int:
    """Run; return 0 if all went well."""
    told = os.environ.get
    place = new_folder()
    outcome = run(
        place,
        float(told('COMPUTE_AGENT_STACK_SECONDS', '3600')),
        int(told('COMPUTE_AGENT_STACK_SEED', '1')),
    )
    for line in outcome.lines:
        sys.stdout.write(f'{line}\n')
    for line in outcome.wrong:
        sys.stdout.write(f'WRONG: {line}\n')
    if outcome.wrong:
        sys.stdout.write(f'logs are in {place}\n')
        return 1
    shutil.rmtree(place)
    return 0


if __name__ == '__main__':
    sys.exit(main())
