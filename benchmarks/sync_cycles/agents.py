# SPDX-License-Identifier: Apache-2.0
"""Start the measured agents, and order their cycles.

Each agent is a process in its own environment, with its own configuration;
``child.py`` is the other end. ``bench.py`` calls this.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from . import cloud, scenarios

ROOT = pathlib.Path(__file__).parents[2]
NOVA = ROOT / '.servers' / 'nova' / 'bin' / 'python'
END = 30  # seconds in which a process must end

_PLACEMENT = """
[placement]
auth_type = admin_token
endpoint = {url}
token = admin
"""
_OURS = """
[DEFAULT]
compute_driver = synthetic
state_path = {state}
[compute_agent]
full_read_interval = {full_read_interval}
"""
_NOVA = """
[DEFAULT]
state_path = {state}
host = bench
"""
_ENTRY_POINTS = """
[compute_agent.drivers]
synthetic = benchmarks.sync_cycles.synthetic_driver:SyntheticDriver
"""


class Failed(Exception):
    """An agent ended early; the text is the end of its stderr."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """The cost of a cycle for its client.

    :ivar wall: seconds
    :ivar cpu: seconds of its processor time, in user and system mode
    :ivar peak_mib: the peak memory of its process so far
    """

    wall: float
    cpu: float
    peak_mib: float


class Agent:
    """A running agent that runs a cycle on request."""

    def __init__(
        self, process: subprocess.Popen[str], said: pathlib.Path
    ) -> None:
        self._process = process
        self._said = said
        self._answer()

    def cycle(
        self,
        change: cloud.Change = cloud.Change.NOTHING,
        *,
        is_stale: bool = False,
    ) -> Took:
        """Run one cycle; return its cost.

        :raises Failed: the agent ended instead
        """
        order = {'change': change.value, 'is_stale': is_stale}
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 (it was asked for)
        line = json.dumps(order) + '\n'
        with contextlib.suppress(BrokenPipeError):  # _answer raises the reason
            os.write(stdin.fileno(), line.encode())
        return Took(**self._answer())

    def _answer(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 (it was asked for)
        line = stdout.readline()
        if not line:
            self._process.wait(END)  # then stderr is complete
            words = self._said.read_text(errors='replace').strip()
            raise Failed(words[-2000:] or 'it ended without a message')
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def started(
    group: scenarios.Group,
    scenario: scenarios.Scenario,
    url: str,
    state: pathlib.Path,
) -> Iterator[Agent]:
    """Yield an agent that is ready, and end it on exit.

    :param state: its state directory, which also gets its configuration
    :raises Failed: it ended at once
    """
    words = command(group, scenario, url, state)
    said = state / 'said'
    with said.open('w', encoding='utf-8') as stderr:
        process = subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=_environment(state),
            text=True,
        )
    with process:
        try:
            yield Agent(process, said)
            process.communicate(timeout=END)
        finally:
            process.kill()


def command(
    group: scenarios.Group,
    scenario: scenarios.Scenario,
    url: str,
    state: pathlib.Path,
) -> list[str]:
    """Write the agent's configuration; return its command line."""
    is_ours = group.agent == scenarios.OURS
    config = state / 'agent.conf'
    # At a restart, the last reading is more than a second old.
    interval = 1 if scenario.full_read else scenarios.FULL_READ
    text = ((_OURS if is_ours else _NOVA) + _PLACEMENT).format(
        url=url, state=state, full_read_interval=interval
    )
    config.write_text(text, encoding='utf-8')
    if is_ours:
        _install_driver(state)
        program = [sys.executable, '-m', 'benchmarks.sync_cycles.ours']
    else:
        program = [str(NOVA), '-m', 'benchmarks.sync_cycles.nova_peer']
    size = group.shape.tree_size
    return [*program, str(config), str(group.nodes), str(size)]


def _install_driver(state: pathlib.Path) -> None:
    """Write the metadata of an installed package, for the entry point."""
    folder = state / 'synthetic_driver-1.dist-info'
    folder.mkdir(exist_ok=True)
    metadata = 'Metadata-Version: 2.1\nName: synthetic-driver\nVersion: 1\n'
    (folder / 'METADATA').write_text(metadata, encoding='utf-8')
    (folder / 'entry_points.txt').write_text(_ENTRY_POINTS, encoding='utf-8')


def _environment(state: pathlib.Path) -> dict[str, str]:
    """Return an environment without the user's OpenStack variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith('OS_')}
    path = os.pathsep.join((str(state), str(ROOT)))
    return {**kept, 'PYTHONPATH': path, 'HOME': str(state)}
