# SPDX-License-Identifier: Apache-2.0
"""The whole cloud of the stack: its servers, its daemons and its operator.

``running`` starts everything and ends it. ``Stack`` has what a day does to the
cloud, and what the judge asks it.
"""

import contextlib
import pathlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import cloud_servers
import keystone_clients
import secure_cloud
import small_disk
import supervisor
import wall_clock

from demo import ironic_operator

NODES = 8
PATIENCE = 300.0  # seconds in which cycles must be done
INTERVAL = 2  # seconds from one cycle to the next
_ACCOUNT = """\
[{group}]
auth_type = password
auth_url = {url}/v3
username = {user}
password = {password}
project_name = service
user_domain_id = default
project_domain_id = default
region_name = one
valid_interfaces = internal
cafile = {cafile}
"""
_DAEMON = """\
[DEFAULT]
compute_driver = {driver}
host = {name}
debug = true
update_resources_interval = {interval}
periodic_fuzzy_delay = 0
[compute_agent]
state_path = {state}
history_days = 2
[libvirt]
connection_uri = {libvirt}
virt_type = qemu
"""


class Stack:
    """Everything that runs.

    :ivar agents: the daemons, by name
    :ivar host_uuid: the host's provider
    :ivar host_at_first: its traits and inventories after the first cycle
    """

    least_nodes = NODES // 2

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._undo = contextlib.ExitStack()
        library = wall_clock.compiled(folder)
        self._keystone_s, self._daemons = (
            wall_clock.Clock(folder / f'{name}.clock', library)
            for name in ('keystone', 'daemons')
        )
        self.servers = cloud_servers.Servers(
            folder, self._keystone_s.environment()
        )
        self.agents: dict[str, supervisor.Supervisor] = {}

    def start(self) -> None:
        """Start the servers, then the daemons; wait for the first cycles."""
        self._undo.callback(self.servers.stop)
        self.servers.start()
        self._hire()
        for number in range(NODES):
            self.enrol(f'node-{number}')
        disk = small_disk.mounted(self._folder / 'disk')
        self.disk = self._undo.enter_context(disk)
        for name, driver in (('metal', 'ironic'), ('host', 'libvirt')):
            self.agents[name] = self._agent(name, driver)
        for agent in self.agents.values():
            agent.wait_ready()
        self._wait_for_first()

    def close(self) -> None:
        """End everything."""
        self._undo.close()

    # --- what the days do ----------------------------------------------------

    def let_pass(self, cycles: int) -> None:
        """Wait until each daemon has finished so many cycles from now on."""
        wanted = {
            agent: agent.cycles + cycles for agent in self.agents.values()
        }
        deadline = time.monotonic() + PATIENCE
        for agent, count in wanted.items():
            while agent.cycles < count:
                assert time.monotonic() < deadline, (
                    f'{agent.name} finishes no cycle: {agent.status}'
                )
                time.sleep(0.05)

    def set_clocks_wrong(self, seconds: float) -> None:
        """Set the daemons' clocks ahead of keystone's, behind, or right."""
        right = self._keystone_s.offset
        self._daemons.step(right + seconds - self._daemons.offset)

    def end_day(self) -> None:
        """Move all clocks on to the next day.

        Keystone's goes first, so the daemons' tokens expire before they think.
        """
        self._keystone_s.step(wall_clock.DAY)
        self.let_pass(2)
        self.set_clocks_wrong(0)
        self._tokens.forget()

    def revoke_tokens(self) -> None:
        """End the validity of the tokens that the daemons have."""
        self.servers.cloud.renew()
        self.servers.cloud.revoke_all(self._agent_id)

    def enrol(self, name: str) -> None:
        """Create a node that can be deployed."""
        node = self.operator.create(name=name, resource_class='gold')
        self.operator.set_traits(node['uuid'], ['HW_CPU_X86_VMX'])
        self.operator.provide(name)

    def delete(self, uuid: str) -> None:
        """Delete a node."""
        self.operator.request('PUT', f'/nodes/{uuid}/maintenance')
        self.operator.delete(uuid)

    def nodes(self) -> Sequence[ironic_operator.Node]:
        """Return Ironic's nodes."""
        return self.operator.nodes()

    def add_trait(self, uuid: str, trait: str) -> None:
        """Add a trait to a provider, as another writer."""
        self._placement.request('PUT', f'/traits/{trait}')
        self._placement.set_traits(uuid, lambda traits: {*traits, trait})

    def remove_trait(self, uuid: str, trait: str) -> None:
        """Remove a trait from a provider, as another writer."""
        self._placement.set_traits(uuid, lambda traits: traits - {trait})

    # --- what the judge asks -------------------------------------------------

    def held(self) -> Mapping[str, Mapping[str, Any]]:
        """Return all providers, with name, traits and inventories."""
        return self._placement.providers()

    def kept_files(self) -> Iterator[pathlib.Path]:
        """Yield the files that the daemons keep in their state directories."""
        found = self.disk.folder.rglob('*')
        return (file for file in found if file.is_file())

    # --- the start -----------------------------------------------------------

    def _hire(self) -> None:
        """Make the accounts of the operator and of the daemons."""
        cloud = self.servers.cloud
        self._agent_name, self._agent_id = cloud.user('service')
        person, _ = cloud.user('admin')
        self._tokens = keystone_clients.Tokens(cloud, person)
        self._placement = keystone_clients.PlacementOperator(
            self.servers.placement.url, self._tokens
        )
        self.operator = keystone_clients.IronicOperator(
            self.servers.ironic.url, self._tokens
        )
        self._undo.callback(self.operator.close)

    def _agent(self, name: str, driver: str) -> supervisor.Supervisor:
        state = self.disk.folder / name
        state.mkdir(mode=0o700)
        text = _DAEMON.format(
            driver=driver,
            name=name,
            state=state,
            interval=INTERVAL,
            libvirt=self.servers.libvirt.uri,
        )
        for group in ('placement', 'ironic'):
            text += _ACCOUNT.format(
                group=group,
                url=self.servers.cloud.keystone,
                user=self._agent_name,
                password=secure_cloud.PASSWORD.replace('$', '$$'),
                cafile=self.servers.authority,
            )
        conf = self._folder / f'{name}.conf'
        conf.write_text(text)
        agent = supervisor.Supervisor(
            self._folder, name, conf, state, self._daemons
        )
        self._undo.callback(agent.stop)
        agent.start()
        return agent

    def _wait_for_first(self) -> None:
        """Wait until placement has the nodes and the host."""
        deadline = time.monotonic() + PATIENCE
        bare = {node['uuid'] for node in self.nodes()}
        while True:
            held = self.held()
            hosts = [
                uuid
                for uuid, one in held.items()
                if uuid not in bare
                and {'COMPUTE_NODE', 'OWNER_NOVA'} <= set(one['traits'])
                and one['inventories']
            ]
            if len(hosts) == 1 and bare <= held.keys():
                self.host_uuid = hosts[0]
                self.host_at_first = held[self.host_uuid]
                return
            assert time.monotonic() < deadline, {
                agent.name: agent.status for agent in self.agents.values()
            }
            time.sleep(0.5)


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[Stack]:
    """Yield the stack with its first cycles done; end it on exit."""
    stack = Stack(folder)
    try:
        stack.start()
        yield stack
    finally:
        stack.close()
