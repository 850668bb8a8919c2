# SPDX-License-Identifier: Apache-2.0
"""Asks libvirt what guests of this host can have.

It does I/O, through ``libvirtd/`` and a runner of programs: ``EMULATOR -device
help`` tells an emulator's devices and starts no guest. The answers are kept for
an hour while libvirt, the hypervisor, the host's boot and its firmware stay the
same. An answer that lacks only an emulator's devices, or the CPU of a model that
libvirt does not know, is kept for a few minutes; another incomplete answer is
not kept. ``root_traits.py`` makes the one reader.
"""

import dataclasses
import logging
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping

from compute_agent import errors
from compute_agent.virt.values import finding

from ...libvirtd import hypervisor, xml
from ..capabilities import (
    compute_findings,
    facts,
    host_capabilities,
    nova_traits,
)
from ..cpu import cpu_traits, guest_cpu
from . import guest_source, sources

_NAME = re.compile(r'^name "([^"]+)"', re.MULTILINE)


def emulator_devices(run: sources.Runner, emulator: str) -> frozenset[str]:
    """Return the names of the devices.

    :raises errors.DriverError: the names cannot be read
    """
    if not emulator:
        raise errors.DriverError('libvirt names no emulator')
    found = frozenset(_NAME.findall(run([emulator, '-device', 'help'])))
    if not found:
        raise errors.DriverError(f'{emulator} lists no devices')
    return found


LOG = logging.getLogger(__name__)

# Seconds; a change that the identity does not show is seen after this time,
# for example swtpm that was installed.
LONGEST = 3600.0
# Of an answer that an operator may mend at any time: an emulator that the agent
# cannot run, or a wrong [libvirt] cpu_models.
SHORT = 300.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The facts that the kernel tells of the host.

    :ivar machine: the kernel's name for the host's architecture
    :ivar userfaultfd: the content of the switch in
        ``capabilities/compute_findings.py``
    :ivar identity: changes if the answers about guests may change; libvirt's
        part of the identity is not in it
    """

    machine: str
    userfaultfd: str | None = None
    identity: tuple[object, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Guests:
    """The capabilities of guests of the host.

    :ivar kinds: the kinds of guests, with libvirt's answers
    :ivar versions: the releases of libvirt and the hypervisor; None if unknown
    """

    cpu: guest_cpu.GuestCpu
    traits: tuple[finding.Finding, ...] = ()
    kinds: tuple[facts.Kind, ...] = ()
    versions: hypervisor.Versions | None = None

    def documents(
        self, arch: str, machines: Collection[str]
    ) -> list[xml.Element | None]:
        """Return the domain capabilities of these kinds; None is unknown.

        A kind that this hypervisor does not have is left out.
        """
        return [
            kind.root
            for kind in self.kinds
            if kind.request.arch == arch
            and kind.request.machine in machines
            and kind.is_possible
        ]


@dataclasses.dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, and the circumstances for which it holds."""

    key: object
    until: float
    guests: Guests

    def serves(self, key: object, now: float) -> bool:
        return self.key == key and now < self.until


class GuestReader:
    """libvirt's answers about guests, by nova's options."""

    def __init__(
        self,
        libvirt: hypervisor.Hypervisor,
        options: facts.GuestOptions,
        run: sources.Runner,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._libvirt = libvirt
        self._options = options
        self._run = run
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: _Kept | None = None
        self._warned: set[str] = set()

    def read(self, host: Host) -> Guests:
        """Return what guests can have, from memory if nothing changed."""
        with self._lock:
            try:
                versions = self._libvirt.versions()
            except hypervisor.Unanswered:
                return self._ask(host, None)[0]
            # The question about the releases opens a connection that broke.
            key = (self._libvirt.session(), versions, host)
            now = self._clock()
            if self._kept is not None and self._kept.serves(key, now):
                return self._kept.guests
            found, seconds = self._ask(host, versions)
            self._kept = _Kept(key, now + seconds, found)
            return found

    def _ask(
        self, host: Host, versions: hypervisor.Versions | None
    ) -> tuple[Guests, float]:
        """Return what guests can have, and for how many seconds it holds."""
        known = facts.Facts(
            arch=host.machine,
            options=self._options,
            versions=versions,
            userfaultfd=host.userfaultfd,
        )
        try:
            described = self._described(host.machine)
        except hypervisor.Unanswered as exc:
            cpu = self._without(exc, host.machine)
            traits = compute_findings.findings(known)
            return Guests(cpu=cpu, traits=traits, versions=versions), 0.0
        cpu = self._cpu(described)
        kinds = tuple(self._kinds(described))
        known = dataclasses.replace(
            known, kinds=kinds, listed=True, devices=self._devices(kinds)
        )
        found = Guests(
            cpu=cpu,
            traits=compute_findings.findings(known),
            kinds=kinds,
            versions=versions,
        )
        return found, _seconds(known, cpu)

    def _described(self, machine: str) -> host_capabilities.HostCapabilities:
        """Return libvirt's description of the host.

        :raises hypervisor.Unanswered: it is not of this host, or lacks the
            emulator for this host's own guests
        """
        found = host_capabilities.parse(self._libvirt.capabilities())
        if cpu_traits.family(found.arch) != cpu_traits.family(machine):
            raise hypervisor.Unanswered(
                f'libvirt says that this host is {found.arch}, the kernel '
                f'that it is {machine}'
            )
        if not any(guest.arch == found.arch for guest in found.guests):
            # libvirt leaves out an emulator that it could not run and ask.
            raise hypervisor.Unanswered(
                f'libvirt lists no guests with the architecture of this host, '
                f'{found.arch}'
            )
        return found

    def _devices(
        self, kinds: tuple[facts.Kind, ...]
    ) -> Mapping[str, frozenset[str] | None]:
        """Return architecture → the devices of its emulator."""
        by_arch = {
            kind.request.arch: kind.request.emulator
            for kind in kinds
            if kind.root is not None
        }
        return {
            arch: self._devices_of(emulator)
            for arch, emulator in by_arch.items()
        }

    def _devices_of(self, emulator: str) -> frozenset[str] | None:
        """Return the devices; None, with a warning, if they are unknown."""
        try:
            return emulator_devices(self._run, emulator)
        except errors.DriverError as exc:
            if emulator not in self._warned:
                LOG.warning(
                    'the devices of the emulator %s are unknown, so the '
                    'traits of network, sound, USB and vIOMMU models stay as '
                    "they are: %s; install the emulator where the agent's "
                    'programs are',
                    emulator,
                    exc,
                )
            self._warned.add(emulator)
            return None

    def _without(
        self, exc: hypervisor.Unanswered, machine: str
    ) -> guest_cpu.GuestCpu:
        if isinstance(exc, hypervisor.Unsupported):
            return guest_source.without_libvirt(
                self._options.cpu, machine, str(exc)
            )
        return guest_cpu.GuestCpu(problem=str(exc))

    def _cpu(
        self, described: host_capabilities.HostCapabilities
    ) -> guest_cpu.GuestCpu:
        options = self._options.cpu
        source = guest_source.GuestSource(
            libvirt=self._libvirt,
            request=host_capabilities.host_kind(
                described, options.virt_type, self._options.machine_types
            ),
            host_cpu=described.cpu,
        )
        return source.read(options)

    def _kinds(
        self, described: host_capabilities.HostCapabilities
    ) -> Iterator[facts.Kind]:
        """Yield the kinds of guests whose architecture a trait names."""
        for request in host_capabilities.kinds(
            described, self._options.cpu.virt_type, self._options.machine_types
        ):
            if request.arch in (*nova_traits.ARCHITECTURES, described.arch):
                yield self._kind(request)

    def _kind(
        self, request: hypervisor.DomainCapabilitiesRequest
    ) -> facts.Kind:
        try:
            text = self._libvirt.domain_capabilities(request)
            root = xml.parse(text, 'domain capabilities', 'domainCapabilities')
        except hypervisor.Unanswered as exc:
            return facts.Kind(
                request=request,
                problem=str(exc),
                is_possible=not isinstance(exc, hypervisor.Unsupported),
            )
        return facts.Kind(request=request, root=root)


def _seconds(known: facts.Facts, cpu: guest_cpu.GuestCpu) -> float:
    """Return for how long an answer holds."""
    if cpu.is_temporary or not known.is_complete:
        return 0.0
    return LONGEST if known.has_devices and not cpu.problem else SHORT
