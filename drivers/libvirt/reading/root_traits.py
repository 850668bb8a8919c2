# SPDX-License-Identifier: Apache-2.0
"""The traits of the host's own provider, each with its evidence.

It does I/O through the sources of the host. ``cpu/`` decides HW_CPU_* and
HW_ARCH_*, ``capabilities/`` COMPUTE_*, ``disk_kind`` STORAGE_DISK_*,
``remote_ports`` the trait of SmartNICs. ``driver.py`` calls this.
"""

import dataclasses
from collections.abc import Sequence

from compute_agent.virt.values import finding

from ... import host_files
from ..capabilities import compute_findings, facts
from ..cpu import cpu_traits, findings, guest_cpu, processors
from ..cpu.findings import Facts, ReportedFlags
from ..devices.pci_specs import DeviceSpec
from ..inventory import disk
from . import disk_kind, guests, pycpuinfo, remote_ports, sources

# libvirt reads these firmware descriptors again when one changes.
_FIRMWARE = ('/usr/share/qemu/firmware', '/etc/qemu/firmware')


_Kept = tuple[Facts, tuple[finding.Finding, ...]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The findings of one reading.

    :ivar findings: a finding for every trait, then the words without one
    :ivar answered: False if no source listed the features of the processors
    :ivar guests: what libvirt tells about guests
    """

    findings: tuple[finding.Finding, ...]
    answered: bool
    guests: guests.Guests

    def named(self, found: finding.Found) -> frozenset[str]:
        """Return the traits with this decision."""
        return frozenset(
            f.trait for f in self.findings if f.trait and f.found is found
        )


class RootTraits:
    """Decides the traits of the host's own provider."""

    def __init__(
        self,
        of: sources.Sources,
        wanted: facts.GuestOptions,
        storage: disk.Options,
        specs: Sequence[DeviceSpec],
    ) -> None:
        self._files = of.files
        self._libvirt = of.libvirt
        self._specs = specs
        self._storage = storage
        self._probe = of.probe
        self._guests = guests.GuestReader(of.libvirt, wanted, of.run)
        self._kept: _Kept | None = None

    def read(self) -> Answer:
        """Return the findings that are known now."""
        machine, kernel = self._kernel()
        found = self._guests.read(self._host(machine, kernel))
        facts = self._facts(machine, kernel, found)
        of_cpu = self._decided(facts)
        of_disk = disk_kind.findings(self._files, self._storage)
        of_ports = remote_ports.read(self._libvirt, self._specs)
        traits = [
            f for f in (*of_cpu, *found.traits, *of_disk, of_ports) if f.trait
        ]
        words = [f for f in of_cpu if not f.trait]
        return Answer(
            findings=(*sorted(traits, key=findings.order), *words),
            answered=facts.answered,
            guests=found,
        )

    def _decided(self, facts: Facts) -> tuple[finding.Finding, ...]:
        """Return the findings about the processors; equal facts keep the last ones."""
        if self._kept is None or self._kept[0] != facts:
            self._kept = facts, findings.findings(facts)
        return self._kept[1]

    def _host(
        self, machine: str, kernel: processors.Processors
    ) -> guests.Host:
        return guests.Host(
            machine=machine,
            userfaultfd=self._files.word(compute_findings.USERFAULTFD),
            identity=(
                self._files.word(host_files.BOOT_ID),
                kernel.microcode,
                *(self._files.changed(path) for path in _FIRMWARE),
            ),
        )

    def _facts(
        self,
        machine: str,
        kernel: processors.Processors,
        found: guests.Guests,
    ) -> Facts:
        family = cpu_traits.family(machine)
        return Facts(
            machine=machine,
            kernel=kernel,
            reported=self._reported(kernel, family, found.cpu),
            guest=found.cpu,
            switches={
                path: self._files.word(path)
                for path in cpu_traits.switches(family)
            },
        )

    def _kernel(self) -> tuple[str, processors.Processors]:
        machine = self._files.machine()
        text = self._files.text(processors.PATH)
        return machine, processors.parse(text, cpu_traits.family(machine))

    def _reported(
        self,
        kernel: processors.Processors,
        family: str | None,
        guest: guest_cpu.GuestCpu,
    ) -> ReportedFlags:
        if not guest.leaves_to_kernel:
            # py-cpuinfo takes more than a second, and would decide nothing.
            return ReportedFlags(reason='libvirt decides')
        if not cpu_traits.asks_pycpuinfo(family):
            return ReportedFlags(
                reason='py-cpuinfo is no source of its own on this machine'
            )
        key = pycpuinfo.Key(
            boot_id=self._files.word(host_files.BOOT_ID) or '',
            microcode=kernel.microcode,
            model=kernel.model,
            version=pycpuinfo.version(),
        )
        return self._probe.reported(key)
