# SPDX-License-Identifier: Apache-2.0
"""This host: nova-compute reports it, and a companion adds to it.

Both run as processes, with one libvirtd and one placement. Their intervals have
nova's default ratio: nova reads its providers anew every five cycles.
"""

import contextlib
import dataclasses
import pathlib
import time
import typing
from collections.abc import Callable, Mapping, Sequence

import companion
import local_libvirt
import real_nova
import reported  # type: ignore[import-not-found]
import request_log
import requests

PATIENCE = 600.0  # seconds; only a hang takes as long
LOOK = 0.1  # seconds between two looks
MEMORY = 'MEMORY_MB'
# The line that docs/in-place-of-nova.md has for nova.conf.
SILENT = '[DEFAULT]\ncompute_driver = compute_agent.LibvirtDriver\n'
CONSUMER = '55555555-5555-4555-8555-555555555555'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What both programs did for a while.

    :ivar troubles: the warnings and errors of nova's log
    :ivar said: the companion's log
    """

    requests: Sequence[request_log.Request]
    troubles: set[str]
    said: str

    @property
    def is_without_writes(self) -> bool:
        """True if neither wrote."""
        return not any(one.is_write for one in self.requests)

    def check(self) -> None:
        """Fail if one of them wrote or complained."""
        assert [one for one in self.requests if one.is_write] == []
        assert [one for one in self.requests if one.is_conflict] == []
        assert self.troubles == set()
        assert self.said == ''


class HostWithNova:
    """Both programs of the host, and placement.

    :ivar name: libvirt's name of the host, and so the root's
    :ivar requests: those of both programs
    :ivar url: the address of placement, for the test
    """

    def __init__(
        self,
        nova: real_nova.RealNova,
        agent: companion.Companion,
        libvirtd: local_libvirt.LocalLibvirt,
        placement: str,
        log: request_log.RequestLog,
    ) -> None:
        self.nova = nova
        self.agent = agent
        self.libvirtd = libvirtd
        self.requests = log
        self.name = self.libvirt_name()
        self.url = placement

    def add_to_conf(self, file: pathlib.Path) -> None:
        """Have both programs read one more part of nova.conf."""
        self.nova.more.append(file)
        self.agent.novas = self.nova.files

    def report_in_place(self, more: str = '') -> None:
        """Have nova-compute report nothing, and the agent be the reporter.

        :param more: lines of the agent's configuration besides
        """
        line = self.agent.folder / 'nova-reports-nothing.conf'
        line.write_text(SILENT)
        self.add_to_conf(line)
        self.agent.become_reporter(more)

    def libvirt_name(self) -> str:
        """Return the name that libvirt gives the host now."""
        libvirt = local_libvirt.binding()
        with contextlib.closing(libvirt.open(self.libvirtd.uri)) as link:
            name: str = link.getHostname()
            return name

    def start_agent(self) -> None:
        """Start the companion's daemon; return after its first cycle."""
        self.agent.start()
        self.wait(lambda: self.agent.has_cycled, 'the first cycle')

    def stop(self) -> None:
        """End both programs."""
        self.agent.stop()
        self.nova.stop()

    # --- placement ------------------------------------------------------------

    def providers(self) -> dict[str, typing.Any]:
        """Return the providers by name."""
        found = self._ask('GET', '/resource_providers')
        return {one['name']: one for one in found['resource_providers']}

    def traits(self, name: str = '') -> set[str]:
        """Return the traits of a provider, by default the root's."""
        return set(self._of(name or self.name, 'traits') or ())

    def inventory(self, name: str) -> dict[str, int]:
        """Return a provider's totals."""
        found = self._of(name, 'inventories') or {}
        return {key: one['total'] for key, one in found.items()}

    def reserved_memory(self) -> int:
        """Return the megabytes of the root that are reserved."""
        found = self._of(self.name, 'inventories')
        reserved: int = found[MEMORY]['reserved']
        return reserved

    @property
    def child(self) -> str:
        """The name of the companion's child."""
        return f'{self.name}_fpga'

    def is_complete(self) -> bool:
        """Return True if both reported all that they have."""
        return (
            {'COMPUTE_NODE', 'CUSTOM_GUESTS_OF_QEMU'} <= self.traits()
            and 'CUSTOM_FAST' in self.traits(self.child)
            and 'CUSTOM_FPGA' in self.inventory(self.child)
        )

    def allocate(self, amount: int) -> None:
        """Allocate so much of the child; 0 deletes the allocation."""
        if not amount:
            self._ask('DELETE', f'/allocations/{CONSUMER}')
            return
        self.allocate_of(self.child, {'CUSTOM_FPGA': amount})

    def allocate_of(self, name: str, resources: Mapping[str, int]) -> None:
        """Allocate resources of a provider for a guest."""
        uuid = self.providers()[name]['uuid']
        body = {
            'allocations': {uuid: {'resources': dict(resources)}},
            'project_id': 'project',
            'user_id': 'user',
            'consumer_generation': None,
            'consumer_type': 'INSTANCE',
        }
        self._ask('PUT', f'/allocations/{CONSUMER}', body)

    def allocated(self, name: str = '') -> dict[str, int]:
        """Return what the guest has of a provider, by default of the root."""
        uuid = self.providers()[name or self.name]['uuid']
        found = self._ask('GET', f'/allocations/{CONSUMER}')['allocations']
        of_provider: dict[str, int] = found.get(uuid, {}).get('resources', {})
        return of_provider

    # --- time -----------------------------------------------------------------

    def wait(self, until: Callable[[], object], what: str) -> None:
        """Return when something holds; fail if it does not."""
        deadline = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < deadline, (
                f'{what}\n{self.agent.log}\n'
                f'{self.nova.troubles()}\n{self.providers()}'
            )
            time.sleep(LOOK)

    def wait_for_refreshes(self, count: int) -> None:
        """Return when nova read its providers anew so many times from now on.

        And when it has ended the pass in which it did so the last time.
        """
        goal = self.requests.refreshes() + count
        self.wait(
            lambda: self.requests.ended_refreshes() >= goal,
            f'{count} refreshes',
        )

    def wait_for_cycles(self, count: int) -> None:
        """Return when the companion ended so many cycles from now on.

        A cycle in which nothing changed reads the tree and logs nothing.
        """
        mark = len(self.requests)
        self.wait(
            lambda: len(self.requests.since(mark, request_log.AGENT)) > count,
            f'{count} cycles',
        )

    def watch(self, seconds: float = 0) -> Watched:
        """Return what both programs do while nothing happens.

        What is left of the last event settles first. On some virtual machines
        the kernel adds memory to the host when it is first touched: while that
        happens, something does, and it is watched anew.

        :param seconds: for how long, at least; nova reads its providers anew
            in any case
        """
        while True:
            memory = self.memory()
            watched = self._watch(seconds)
            if watched.is_without_writes or self.memory() == memory:
                return watched

    def memory(self) -> int | None:
        """Return the megabytes of the host in placement."""
        return self.inventory(self.name).get(MEMORY)

    def steady_inventory(self) -> dict[str, int]:
        """Return the totals of the root, but for the memory."""
        found = self.inventory(self.name)
        return {key: total for key, total in found.items() if key != MEMORY}

    def _watch(self, seconds: float) -> Watched:
        self.wait_for_refreshes(1)
        mark = len(self.requests)
        since, said = len(self.nova.log), len(self.agent.log)
        deadline = time.monotonic() + seconds
        self.wait_for_refreshes(1)
        while time.monotonic() < deadline:
            self.wait_for_refreshes(1)
        return Watched(
            requests=self.requests.since(mark),
            troubles=self.nova.troubles(since),
            said=self.agent.log[said:],
        )

    def be_quiet(self) -> None:
        """See that neither program writes or complains."""
        self.watch().check()

    # --- requests -------------------------------------------------------------

    def _of(self, name: str, kind: str) -> typing.Any:
        """Return a part of a provider, or None if the provider is gone."""
        one = self.providers().get(name)
        if one is None:
            return None
        found = self._ask('GET', f'/resource_providers/{one["uuid"]}/{kind}')
        return found and found[kind]

    def _ask(self, method: str, path: str, body: object = None) -> typing.Any:
        answer = requests.request(
            method,
            f'{self.url}{path}',
            json=body,
            headers=reported.HEADERS,
            timeout=PATIENCE,
        )
        if answer.status_code == requests.codes.not_found:
            return None
        answer.raise_for_status()
        return answer.json() if answer.content else None
