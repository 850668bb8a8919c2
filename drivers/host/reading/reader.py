# SPDX-License-Identifier: Apache-2.0
"""Reads all facts of one host, and keeps those that cannot have changed.

It does I/O through its sources. It keeps these facts until a sign of a change:

* The identity of the processors: the boot id, the processors online, the
  microcode.
* The kernel's configuration: the boot id, and the file's time of change.
* Devices: the kernel's events of devices, while they are heard, but at most
  ten minutes, because not every change of a device is an event.
* libvirt's capabilities and local files: see their modules.

Everything else is read each time.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, Protocol, TypeVar

from ... import host_files
from ...libvirtd import hypervisor
from ..facts.fact import Device, Fact, Facts, Value
from . import (
    block,
    cpu,
    kernel,
    libvirt,
    local,
    machine,
    memory,
    net,
    pci,
    security,
    usb,
)

#: Seconds for which devices are kept while no event tells of them.
DEVICES_KEPT = 600.0

_Devices = tuple[Device, ...] | Fact
_Kind = TypeVar('_Kind')

_READERS = {
    block.FAMILY: block.read,
    net.FAMILY: net.read,
    pci.FAMILY: pci.read,
    pci.GPU: pci.read_gpus,
    pci.MDEV_TYPE: pci.read_mdev_types,
    usb.FAMILY: usb.read,
}


class Events(Protocol):
    """Counts the events of devices."""

    def count(self) -> int | None:
        """Return the number of events so far; None if they are not heard."""
        ...


class NoEvents:
    """Stands for the events of a host where the agent hears none."""

    def count(self) -> int | None:
        """Return None."""
        return None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that facts are read from.

    :ivar images_type: nova's option; it is a fact, too
    """

    files: host_files.HostFiles
    libvirt: hypervisor.Hypervisor
    offloads: net.Offloads
    local: local.LocalFacts
    events: Events = dataclasses.field(default_factory=NoEvents)
    images_type: str = 'default'


class FactReader:
    """Reads the facts of one host."""

    def __init__(
        self, of: Sources, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = of.files
        self._offloads = of.offloads
        self._local = of.local
        self._options = (
            Fact(
                name='nova.images_type',
                value=of.images_type,
                source='[libvirt] images_type',
            ),
        )
        self._events = of.events
        self._clock = clock
        self._libvirt = libvirt.LibvirtFacts(of.libvirt)
        self._cpu = _Kept[tuple[Fact, ...]]()
        self._configuration = _Kept[tuple[Fact, ...]]()
        self._devices = {family: _Kept[_Devices]() for family in _READERS}

    def read(self) -> Facts:
        """Return the facts that are known now."""
        files = self._files
        boot = files.word(host_files.BOOT_ID)
        processors = self._processors(boot)
        found = {fact.name: fact for fact in processors}
        answer = self._local.read()
        rest: Iterable[tuple[Fact, ...]] = (
            cpu.read_state(files),
            memory.read(files),
            kernel.read(files),
            self._kernel_configuration(boot),
            machine.read_iommu(files),
            machine.read_dmi(files),
            security.read(
                files, _value(found['cpu.vendor']), _value(found['cpu.flags'])
            ),
            self._libvirt.read(),
            self._options,
            answer.facts,
        )
        found.update({fact.name: fact for facts in rest for fact in facts})
        reason = answer.incomplete
        return Facts(
            facts=found,
            devices=self._all_devices(),
            incomplete={'local': reason} if reason else {},
            faults=answer.faults,
        )

    def _processors(self, boot: str | None) -> tuple[Fact, ...]:
        files = self._files
        key = boot and (
            boot,
            files.word(cpu.ONLINE),
            files.word(cpu.MICROCODE),
        )
        return self._cpu.get(key or None, lambda: cpu.read(files))

    def _kernel_configuration(self, boot: str | None) -> tuple[Fact, ...]:
        files = self._files
        path = kernel.configuration_path(files)
        key = boot and (boot, path, files.changed(path))
        return self._configuration.get(
            key or None, lambda: kernel.read_configuration(files)
        )

    def _all_devices(self) -> dict[str, _Devices]:
        events = self._events.count()
        period = int(self._clock() // DEVICES_KEPT)
        key = None if events is None else (events, period)
        found = {
            family: kept.get(
                key, functools.partial(_READERS[family], self._files)
            )
            for family, kept in self._devices.items()
        }
        interfaces = found[net.FAMILY]
        if isinstance(interfaces, tuple):
            found[net.FAMILY] = tuple(
                net.with_state(interface, self._files, self._offloads)
                for interface in interfaces
            )
        return found


class _Kept(Generic[_Kind]):
    """One reading, and the key for which it is valid."""

    def __init__(self) -> None:
        self._last: tuple[Hashable, _Kind] | None = None

    def get(self, key: Hashable | None, read: Callable[[], _Kind]) -> _Kind:
        """Return the last reading if the key is the same, else a new one.

        Without a key, nothing is kept.
        """
        if key is not None and self._last is not None and self._last[0] == key:
            return self._last[1]
        found = read()
        self._last = None if key is None else (key, found)
        return found


def _value(fact: Fact) -> Value:
    return None if fact.unknown else fact.value
