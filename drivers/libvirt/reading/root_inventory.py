# SPDX-License-Identifier: Apache-2.0
"""Reads the amounts of the host's own provider.

It does I/O: libvirt, files of the host where libvirt does not answer, and
programs that know the storage. Each resource class is read by itself, so that
one that cannot be read leaves the others as they are. ``driver.py`` calls this
in each cycle.
"""

from collections.abc import Callable, Iterator

from compute_agent import errors
from compute_agent.tree import host_inventory, inventory

from ...libvirtd import cpusets, hypervisor
from ..devices.child import Children, Kind
from ..inventory import amounts, cpus, disk, memory, numa, pmem
from ..options import inventory as options
from . import sources

_PINNED = 1.0  # the ratio of resources that guests do not share
MIB_PER_GIB = 1024


class RootInventory:
    """The inventory of the host's own provider."""

    def __init__(
        self, settings: options.Settings, of: sources.Sources
    ) -> None:
        self._settings = settings
        self._files = of.files
        self._libvirt = of.libvirt
        self._run = of.run
        self._told_mib: int | None = None  # libvirt's last number

    def read(
        self, current: amounts.Records, *, disk_is_shared: bool = False
    ) -> amounts.Amounts:
        """Return the amounts, as far as they can be read.

        :param current: the provider's inventory in placement
        :param disk_is_shared: a sharing provider has the host's DISK_GB
        :raises errors.DriverError: an option reserves more than the host has
        """
        parts = [self._cpus(), self._memory(current), *self._pmem()]
        if not disk_is_shared:
            parts.append(self._disk(current))
        return amounts.Amounts.joined(parts)

    def divided(
        self, root: str, found: amounts.Amounts
    ) -> tuple[amounts.Amounts, Children]:
        """Return the host's own amounts, and the NUMA nodes as its children.

        There are no NUMA nodes unless an option asks for them. If they are
        unknown, their amounts are neither on the host nor on new children.

        :param root: the name of the host's own provider
        :param found: the amounts of the whole host
        """
        if not self._settings.nested:
            return found, Children()
        if not found.unknown.isdisjoint(numa.CLASSES):
            return _undivided(found)
        sets = self._settings.cpu_sets
        try:
            usable = cpus.usable(sets, self._processors())
            children = numa.divided(
                root,
                found,
                numa.cells(self._libvirt.capabilities()),
                usable,
                subtracts_huge_pages=self._settings.ram.subtracts_huge_pages,
            )
        except errors.DriverError as exc:
            return _undivided(found, str(exc))
        return numa.without(found), children

    def _cpus(self) -> amounts.Amounts:
        sets = self._settings.cpu_sets
        try:
            usable = cpus.usable(sets, self._processors())
        except errors.DriverError as exc:
            return amounts.Amounts.unread(str(exc), *cpus.CLASSES)
        return amounts.Amounts(
            known={
                rc: cpus.record(rc, len(numbers), sets)
                for rc, numbers in usable.items()
                if numbers
            }
        )

    def _processors(self) -> cpus.Host:
        try:
            found = self._libvirt.processors()
        except hypervisor.Unanswered:
            return self._kernels_processors()
        if not found.online:  # libvirt cannot tell: a host has one
            return self._kernels_processors()
        return cpus.Host(present=found.present, online=found.online)

    def _kernels_processors(self) -> cpus.Host:
        online = cpusets.from_kernel(
            self._files.text(cpus.ONLINE), cpus.ONLINE
        )
        if not self._settings.cpu_sets.managed:
            return cpus.Host(present=online, online=online)
        present = self._files.text(cpus.PRESENT)
        return cpus.Host(
            present=cpusets.from_kernel(present, cpus.PRESENT), online=online
        )

    def _memory(self, current: amounts.Records) -> amounts.Amounts:
        """Return MEMORY_MB.

        It stays as it is while libvirt is away and did not answer yet, because
        libvirt's number may be larger than the kernel's.
        """
        chosen = self._settings.ram
        rc = 'MEMORY_MB'
        is_missing = self._ask_memory()
        if is_missing and rc in current and not chosen.file_backed_mib:
            return amounts.Amounts(unknown=frozenset({rc}))

        def total() -> int:
            meminfo = self._files.text(memory.MEMINFO)
            return memory.total_mib(chosen, self._told_mib, meminfo)

        return _amount(
            rc, total, chosen.reserved_mib, 'reserved_host_memory_mb'
        )

    def _ask_memory(self) -> bool:
        """Keep libvirt's number; return True if it is still to come."""
        try:
            self._told_mib = self._libvirt.memory_mib()
        except hypervisor.Unsupported:
            return False
        except hypervisor.Unanswered:
            return self._told_mib is None
        return False

    def _disk(self, current: amounts.Records) -> amounts.Amounts:
        configured = -(-self._settings.storage.reserved_mib // MIB_PER_GIB)
        found = _amount(
            disk.RC,
            lambda: self._disk_gib(current),
            configured,
            'reserved_host_disk_mb',
        )
        if disk.RC not in found.known:
            return found
        try:
            cached = self._cached_gib()
        except errors.DriverError as exc:
            return amounts.Amounts.unread(str(exc), disk.RC)
        record = found.known[disk.RC]
        reserved = min(configured + cached, record['total'])
        return amounts.Amounts(
            known={disk.RC: {**record, 'reserved': reserved}}
        )

    def _disk_gib(self, current: amounts.Records) -> int:
        chosen = self._settings.storage
        if chosen.images_type == disk.LVM:
            answer = self._run(disk.vgs_command(chosen))
            return disk.group_gib(answer, chosen.volume_group)
        if chosen.images_type == disk.RBD:
            answer = self._run(disk.ceph_command(chosen))
            gib = disk.pool_gib(answer, chosen.pool)
            return disk.steady(gib, current.get(disk.RC))
        size = self._files.file_system_bytes(chosen.instances_path)
        return size // disk.BYTES_PER_GIB

    def _cached_gib(self) -> int:
        """Return the GiB that cached images have, rounded up."""
        chosen = self._settings.storage
        if not chosen.image_cache:
            return 0
        used = self._files.used_bytes(
            chosen.image_cache, chosen.instances_path
        )
        return -(-used // disk.BYTES_PER_GIB)

    def _pmem(self) -> Iterator[amounts.Amounts]:
        wanted = self._settings.namespaces
        if not wanted:
            return
        try:
            existing = pmem.names_on_host(self._run(pmem.COMMAND))
        except errors.DriverError as exc:
            yield amounts.Amounts.unread(str(exc), *wanted)
            return
        for rc, named in wanted.items():
            yield _pmem_class(rc, named, existing)


def _undivided(
    found: amounts.Amounts, *faults: str
) -> tuple[amounts.Amounts, Children]:
    """Return the amounts and children if the NUMA nodes are unknown."""
    unread = amounts.Amounts(unknown=frozenset(numa.CLASSES), faults=faults)
    joined = amounts.Amounts.joined([numa.without(found), unread])
    return joined, Children(unknown_kinds={Kind.NUMA: ''})


def _pmem_class(
    rc: str, named: tuple[str, ...], existing: frozenset[str]
) -> amounts.Amounts:
    try:
        pmem.check(rc, named, existing)
    except errors.DriverError as exc:
        return amounts.Amounts.unread(str(exc), rc)
    record = host_inventory.record(rc, len(named))
    return amounts.Amounts(known={rc: {**record, 'allocation_ratio': _PINNED}})


def _amount(
    rc: str, total: Callable[[], int], reserved: int, option: str
) -> amounts.Amounts:
    try:
        amount = total()
    except errors.DriverError as exc:
        return amounts.Amounts.unread(str(exc), rc)
    if not amount:
        return amounts.Amounts()
    if amount > inventory.MAX_INT:
        return amounts.Amounts.unread(
            f'the {rc} of this host are more than placement can hold', rc
        )
    return amounts.Amounts(
        known={rc: host_inventory.record(rc, amount, reserved, option)}
    )
