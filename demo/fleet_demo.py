# SPDX-License-Identifier: Apache-2.0
"""``python -m demo.fleet_demo``: kill the agent of a share, and see another go on.

A real Ironic with nodes of fake hardware, a real placement, a PostgreSQL and two
daemons, all on 127.0.0.1 and in a directory that is deleted at the end. The
demo ends by itself.
"""

import contextlib
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from benchmarks.sync_cycles import postgresql
from compute_agent import errors

from . import ironic_demo, ironic_operator, local_ironic, server_process

NODES = 6
DELETED = 'rack1-node02'
PATIENCE = 120.0  # seconds; only a hang takes as long
LEASE = 5

_NAMES = ('one', 'two')
_AGENT = (sys.executable, '-m', 'compute_agent.cmd.app.start')
_HOLDS = 'this agent holds the share'
_PLACEMENT = """\
[DEFAULT]
state_path = {folder}/placement

[placement]
embedded = true
embedded_port = {port}
"""
_CONFIGURATION = """\
[DEFAULT]
compute_driver = ironic
state_path = {folder}/{name}
update_resources_interval = 5
periodic_fuzzy_delay = 0

[compute_agent]
state_connection = {database}
lease_seconds = {lease}

[ironic]
auth_type = none
endpoint_override = {ironic}

[placement]
auth_type = admin_token
token = admin
endpoint = http://127.0.0.1:{port}
"""


class Fleet:
    """Two daemons of one share, in processes of their own."""

    def __init__(
        self, folder: pathlib.Path, undo: contextlib.ExitStack
    ) -> None:
        self._folder = folder
        self._undo = undo
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def configure(self, name: str, text: str) -> None:
        """Write the configuration of a daemon."""
        (self._folder / f'{name}.conf').write_text(text)

    def start(self, name: str, *words: str) -> None:
        """Start a command that runs on; it ends with the demo."""
        command = [*_AGENT, f'--config-file={name}.conf', *words]
        running = server_process.running(command, self._log(name))
        self._running[name] = self._undo.enter_context(running)

    def kill(self, name: str) -> None:
        """Kill a daemon with SIGKILL."""
        process = self._running[name]
        ironic_demo.say(f'$ kill -9 {process.pid}')
        process.kill()
        process.wait()

    def said(self, name: str, words: str) -> list[str]:
        """Return the lines of a daemon that have these words."""
        lines = self._log(name).read_text(errors='replace').splitlines()
        return [line for line in lines if words in line]

    def wait(self, name: str, words: str) -> str:
        """Return the first line of a daemon with these words."""
        return wait_for(
            lambda: ''.join(self.said(name, words)[:1]),
            f'"{words}" in the log of the agent {name}',
        )

    def ask(self, name: str, *words: str, until: str) -> None:
        """Run a command with a configuration until it prints this; show it."""
        shown = ['compute-agent', '--config-file', f'{name}.conf', *words]
        printed = wait_for(
            lambda: self._printed(shown[1:], until),
            f'"{until}" of {shlex.join(shown)}',
        )
        ironic_demo.say(f'$ {shlex.join(shown)}\n{printed}')

    def _printed(self, words: list[str], wanted: str) -> str:
        asked = subprocess.run(  # noqa: S603 (a command of this demo)
            [*_AGENT, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
        )
        return asked.stdout.rstrip() if wanted in asked.stdout else ''

    def _log(self, name: str) -> pathlib.Path:
        return self._folder / f'{name}.log'


def wait_for(condition: Callable[[], str], what: str) -> str:
    """Return what the condition gives, once that is something.

    :raises errors.Unavailable: that takes too long
    """
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise errors.Unavailable(f'waited in vain for {what}')
        time.sleep(0.05)
    return found


def main() -> int:
    """Run the demo; return its exit code."""
    return ironic_demo.ended(_run)


def _run() -> int:
    if not postgresql.is_installed():
        raise errors.ConfigError(
            'PostgreSQL is not installed here (initdb, postgres, psql); on '
            'Debian, "apt-get install postgresql" installs it'
        )
    with (
        tempfile.TemporaryDirectory(prefix='demo-fleet-') as made,
        contextlib.ExitStack() as undo,
    ):
        folder = pathlib.Path(made)
        folder.chmod(0o711)  # for the user of PostgreSQL
        ironic_demo.say('starting Ironic, placement and PostgreSQL')
        ironic = undo.enter_context(
            local_ironic.LocalIronic(folder / 'ironic')
        ).url
        ironic_demo.enroll(ironic, NODES)
        fleet = Fleet(folder, undo)
        _configure(fleet, folder, ironic, _database(folder, undo))
        _show(fleet, ironic)
    return 0


def _database(folder: pathlib.Path, undo: contextlib.ExitStack) -> str:
    """Start PostgreSQL; return the URL of an empty database."""
    server = undo.enter_context(
        postgresql.started(folder, ironic_demo.free_port())
    )
    server.create('agent')
    return f'postgresql+psycopg://bench@127.0.0.1:{server.port}/agent'


def _configure(
    fleet: Fleet, folder: pathlib.Path, ironic: str, database: str
) -> None:
    """Write all configurations, and start placement."""
    port = ironic_demo.free_port()
    fleet.configure('placement', _PLACEMENT.format(folder=folder, port=port))
    for name in _NAMES:
        text = _CONFIGURATION.format(
            folder=folder,
            name=name,
            port=port,
            ironic=ironic,
            database=database,
            lease=LEASE,
        )
        fleet.configure(name, text)
    fleet.start('placement', 'placement', 'serve')
    fleet.wait('placement', 'http://')


def _show(fleet: Fleet, ironic: str) -> None:
    say = ironic_demo.say
    say('\nTwo agents of one share: the first one holds it and reports.')
    fleet.start('one', 'run')
    fleet.wait('one', f'cycle: {NODES} done')
    fleet.start('two', 'run')
    fleet.wait('two', 'stands by')
    fleet.ask('two', 'status', until='has the whole record')
    say(f'\nThe first one is killed; meanwhile {DELETED} leaves Ironic.')
    fleet.kill('one')
    killed = time.monotonic()
    uuid = _delete_node(ironic)
    say(fleet.wait('two', _HOLDS))
    say(f'({time.monotonic() - killed:.0f} seconds after the kill)')
    say(fleet.wait('two', f'delete provider {uuid}'))
    say('\nThe second one holds the share, and deleted that node.')
    fleet.ask('two', 'status', until=f'{NODES - 1} nodes: {NODES - 1} done')
    fleet.ask('two', 'history', '--removals', uuid, until='deleted')
    say('\nEverything ends now.')


def _delete_node(url: str) -> str:
    """Delete a node from Ironic; return its uuid."""
    operator = ironic_operator.IronicOperator(url)
    try:
        uuid = str(operator.node(DELETED)['uuid'])
        operator.delete(DELETED)
    finally:
        operator.close()
    ironic_demo.say(f'$ openstack baremetal node delete {DELETED}')
    return uuid


if __name__ == '__main__':
    sys.exit(main())
