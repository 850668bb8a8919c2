# SPDX-License-Identifier: Apache-2.0
"""This host: nova-compute reports it, and a companion adds to it.

Both run as processes, with one libvirtd and one placement. Their intervals have
nova's default ratio: nova reads its providers anew every five cycles.
"""

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import time
import typing
from collections.abc import Callable

import command_line
import local_libvirt
import local_nova  # type: ignore[import-not-found]
import yaml

from demo import server_process

HERE = pathlib.Path(__file__).parent
PARITY = HERE.parents[1] / 'parity'
PATIENCE = 180.0  # seconds
LOOK = 0.2  # seconds between two looks
# nova's defaults are 60 s and 300 s.
INTERVAL = int(os.environ.get('COMPUTE_AGENT_COMPANION_INTERVAL', '2'))
CONSUMER = '55555555-5555-4555-8555-555555555555'
_NOVA = """\
[DEFAULT]
debug = true
update_resources_interval = {interval}
[compute]
resource_provider_association_refresh = {refresh}
"""
_HOST = """\
[DEFAULT]
compute_driver = host
host = a-service-s-name
state_path = {folder}
[compute_agent]
mode = companion
[compute]
provider_config_location = {files}
[placement]
auth_type = admin_token
endpoint = {placement}
token = admin
[libvirt]
connection_uri = {libvirt}
"""
_FILE = """\
meta: {schema_version: '1.0'}
providers:
  - identification: {uuid: $COMPUTE_NODE}
    traits: {additional: [CUSTOM_RACK_8]}
"""
# What the companion says while there is no root.
WAITS = 'nova-compute creates it'
# What nova says, at the level for debugging, when it reads a root anew.
_REFRESHES = 'Refreshing trait associations for resource provider'


def is_installed() -> bool:
    """Return True if nova and what it needs of libvirt are installed."""
    stamp = HERE.parents[2] / '.servers' / 'nova-libvirt.stamp'
    return stamp.exists()


class HostWithNova:
    """Both programs of the host; either may be stopped and started again.

    :ivar name: libvirt's name of the host, and so the root's
    """

    def __init__(
        self,
        cli: command_line.CommandLine,
        libvirtd: local_libvirt.LocalLibvirt,
    ) -> None:
        self.cli = cli
        self._libvirtd = libvirtd
        libvirt = local_libvirt.binding()
        with contextlib.closing(libvirt.open(libvirtd.uri)) as connection:
            self.name: str = connection.getHostname()
        self._folder = cli.folder / 'nova'
        self._nova = local_nova.LocalNova(self._folder, cli.url, libvirtd.uri)
        self._nova.create_databases()
        self._nova.forget()
        self._snippet = cli.folder / 'interval.conf'
        self._snippet.write_text(
            _NOVA.format(interval=INTERVAL, refresh=5 * INTERVAL)
        )
        self._running: dict[str, contextlib.ExitStack] = {}
        self.describe('CUSTOM_RACK_7')
        cli.configure(
            host='a-service-s-name',
            agent={'mode': 'companion'},
            update_resources_interval=INTERVAL,
        )

    def describe(self, *traits: str) -> None:
        """Have the companion's driver give these traits, and a child."""
        node = {
            'name': self.name,
            'traits': list(traits),
            'children': [
                {
                    'name': f'{self.name}_fpga',
                    'inventories': {'CUSTOM_FPGA': 2},
                    'traits': ['CUSTOM_FAST'],
                }
            ],
        }
        self.cli.fake_file.write_text(yaml.safe_dump({'nodes': [node]}))

    # --- the two programs -----------------------------------------------------

    @property
    def nova_log(self) -> pathlib.Path:
        """nova-compute's log, of all its runs."""
        return self._folder / 'nova-compute.log'

    @property
    def agent_log(self) -> pathlib.Path:
        """The companion's log, of its last run."""
        return self.cli.folder / 'companion.log'

    def start_nova(self) -> None:
        """Start nova-compute."""
        self.nova_log.touch()
        self._start(
            'nova',
            [
                *(str(local_nova.PROGRAMS / 'python'), '-u'),
                str(PARITY / 'nova_compute.py'),
                *('--config-file', str(self._nova.conf)),
                *('--config-file', str(self._snippet)),
                *('--log-file', str(self.nova_log)),
            ],
            self._folder / 'output',
        )

    def start_agent(self) -> None:
        """Start the companion's daemon."""
        self._start('agent', self._agent('run'), self.agent_log)

    def stop(self, *names: str) -> None:
        """End ``nova`` or ``agent``, or both."""
        for name in names:
            self._running.pop(name).close()

    def close(self) -> None:
        """End what still runs."""
        self.stop(*self._running)

    def run_agent(self, *words: str) -> str:
        """Run a command of the companion; return what it prints."""
        done = subprocess.run(
            self._agent(*words),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def plan_with_host_driver(self) -> str:
        """Return the plan of the driver ``host`` with a provider-config file.

        The agent has a new state and does not see nova's ``compute_id``, so
        it finds the root by libvirt's name for the host.
        """
        folder = self.cli.folder / 'host'
        files = folder / 'provider_config'
        files.mkdir(parents=True)
        (files / 'rack.yaml').write_text(_FILE)
        conf = folder / 'agent.conf'
        conf.write_text(
            _HOST.format(
                folder=folder,
                files=files,
                placement=self.cli.url,
                libvirt=self._libvirtd.uri,
            )
        )
        done = subprocess.run(
            [
                *(sys.executable, '-m', 'compute_agent.cmd.app.start'),
                *('--config-file', str(conf), 'plan'),
            ],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 2, done.stdout  # there are changes
        assert not list(folder.rglob('compute_id'))
        return done.stdout

    def run_nova(self, *words: str) -> None:
        """Run a program of nova's environment.

        :param words: with CONF for nova's configuration file
        """
        program, *rest = words
        conf = str(self._nova.conf)
        server_process.run(
            [
                str(local_nova.PROGRAMS / program),
                *(conf if word == 'CONF' else word for word in rest),
            ],
            self._folder / 'command.log',
            PATIENCE,
        )

    def delete_service(self) -> None:
        """Delete the compute service, whose process has ended."""
        script = str(HERE / 'delete_service.py')
        self.run_nova('python', script, '--config-file', 'CONF')
        self._nova.forget(keeps_identity=True)

    def disable_service(self, *, disabled: bool) -> None:
        """Disable or enable the compute service, as nova-api does."""
        with contextlib.closing(
            sqlite3.connect(self._folder / 'cell1.sqlite', timeout=30)
        ) as db:
            db.execute('update services set disabled = ?', (disabled,))
            db.commit()

    # --- placement ------------------------------------------------------------

    def providers(self) -> dict[str, typing.Any]:
        """Return the providers by name."""
        found = self.cli.placement('/resource_providers')
        return {one['name']: one for one in found['resource_providers']}

    def generations(self) -> dict[str, int]:
        """Return each provider's generation: each change raises it."""
        found = self.providers().items()
        return {name: one['generation'] for name, one in found}

    def traits(self, name: str = '') -> set[str]:
        """Return the traits of a provider, by default the root's."""
        one = self.providers().get(name or self.name)
        if one is None:
            return set()
        path = f'/resource_providers/{one["uuid"]}/traits'
        return set(self.cli.placement(path)['traits'])

    def agent_waits(self) -> bool:
        """Return True if the companion said that it waits for the root."""
        return WAITS in self.agent_log.read_text()

    def is_complete(self) -> bool:
        """Return True if both reported all that they have."""
        child = f'{self.name}_fpga'
        return {'COMPUTE_NODE', 'CUSTOM_RACK_7'} <= self.traits() and (
            self.traits(child) == {'CUSTOM_FAST'}
        )

    def allocate(self, amount: int) -> None:
        """Allocate so much of the child; 0 deletes the allocation."""
        uuid = self.providers()[f'{self.name}_fpga']['uuid']
        path = f'/allocations/{CONSUMER}'
        if not amount:
            self.cli.placement(path, 'DELETE')
            return
        self.cli.placement(
            path,
            'PUT',
            {
                'allocations': {uuid: {'resources': {'CUSTOM_FPGA': amount}}},
                'project_id': 'project',
                'user_id': 'user',
                'consumer_generation': None,
                'consumer_type': 'INSTANCE',
            },
        )

    # --- time -----------------------------------------------------------------

    def wait(self, until: Callable[[], object], what: str) -> None:
        """Return when something holds; fail if it does not."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, (
                f'{what}\n{self.agent_log.read_text()}\n'
                f'{self.troubles()}\n{self.providers()}'
            )
            time.sleep(LOOK)

    def wait_for_refreshes(self, count: int) -> None:
        """Return when nova read its root anew so many times from now on."""
        goal = self._refreshes() + count
        self.wait(lambda: self._refreshes() >= goal, f'{count} refreshes')

    def troubles(self, since: int = 0) -> list[str]:
        """Return the warnings and errors of nova's log from a place on."""
        text = self.nova_log.read_text(errors='replace')[since:]
        return [
            line
            for line in text.split('\n')
            if ' WARNING ' in line or ' ERROR ' in line or ' CRITICAL ' in line
        ]

    def _refreshes(self) -> int:
        return self.nova_log.read_text(errors='replace').count(_REFRESHES)

    def _start(
        self, name: str, command: list[str], output: pathlib.Path
    ) -> None:
        stack = contextlib.ExitStack()
        stack.enter_context(server_process.running(command, output))
        self._running[name] = stack

    def _agent(self, *words: str) -> list[str]:
        return [
            *(sys.executable, '-u', str(HERE / 'companion_agent.py')),
            *('--config-file', str(self.cli.config), *words),
        ]
