# SPDX-License-Identifier: Apache-2.0
"""VCPU and PCPU: the processors that guests may use, by nova's rules.

Pure: no I/O, configuration, logging or clock. ``CpuSets`` are nova's options;
a combination that nova-compute refuses is refused here too. ``counts`` compares
them with the processors of the host. The processors come from libvirt, or from
the kernel's lists in /sys. ``options/`` and ``reading/`` call
this.
"""

import dataclasses
from collections.abc import Callable, Mapping

from compute_agent import errors
from compute_agent.tree import host_inventory, inventory

from ...libvirtd import cpusets

VCPU = 'VCPU'
PCPU = 'PCPU'

ONLINE = '/sys/devices/system/cpu/online'
PRESENT = '/sys/devices/system/cpu/present'

SHARED = '[compute] cpu_shared_set'
DEDICATED = '[compute] cpu_dedicated_set'
PIN_SET = '[DEFAULT] vcpu_pin_set'
RESERVED = '[DEFAULT] reserved_host_cpus'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The processors of the host, by their numbers.

    :ivar present: the processors that exist, including offline ones
    """

    present: frozenset[int]
    online: frozenset[int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CpuSets:
    """Nova's sets of processors; None if the option is not set.

    :ivar managed: nova turns dedicated processors off while no guest uses
        them, so these may be offline
    """

    shared: frozenset[int] | None = None
    dedicated: frozenset[int] | None = None
    pin_set: frozenset[int] | None = None
    managed: bool = False
    reserved: int = 0

    def __post_init__(self) -> None:
        for flaw in (self._pins_with_dedicated(), self._overlap()):
            if flaw:
                raise errors.ConfigError(flaw)
        sets = [
            option
            for option, numbers in (
                (SHARED, self.shared),
                (DEDICATED, self.dedicated),
            )
            if numbers is not None
        ]
        if self.reserved and sets and self.pin_set is None:
            raise errors.ConfigError(
                f'{RESERVED} cannot be used with {" and ".join(sets)}: leave '
                f"the host's own processors out of the sets, and remove "
                f'{RESERVED}'
            )

    def _pins_with_dedicated(self) -> str:
        if self.pin_set is None or self.dedicated is None:
            return ''
        return (
            f'{PIN_SET} cannot be used with {DEDICATED}: remove {PIN_SET}, '
            f'and set {SHARED} to the processors of guests that are not pinned'
        )

    def _overlap(self) -> str:
        if self.pin_set is not None:
            return ''
        both = (self.shared or frozenset()) & (self.dedicated or frozenset())
        if not both:
            return ''
        return (
            f'{SHARED} and {DEDICATED} both name processors {cpusets.listed(both)}: '
            'remove them from one of the two'
        )

    @property
    def warning(self) -> str:
        """The line about an option that has no effect; empty if all do."""
        if self.pin_set is None or self.shared is None:
            return ''
        return (
            f'{PIN_SET} decides VCPU, and {SHARED} does not: to change to the '
            f'newer options, remove {PIN_SET}'
        )


def shared(sets: CpuSets, host: Host) -> frozenset[int]:
    """Return the processors that are VCPU.

    ``vcpu_pin_set`` goes before ``cpu_shared_set``. If the options name only
    dedicated processors, there are none. If no option is set, these are all
    online processors.

    :raises errors.DriverError: an option names others than these
    """
    for option, numbers in ((PIN_SET, sets.pin_set), (SHARED, sets.shared)):
        if numbers is not None:
            _check(option, numbers, host.online, 'online')
            return numbers
    return frozenset() if sets.dedicated is not None else host.online


def dedicated(sets: CpuSets, host: Host) -> frozenset[int]:
    """Return the processors that are PCPU.

    :raises errors.DriverError: the option names others than the host has
    """
    if sets.dedicated is None:
        return frozenset()
    if sets.managed:
        _check(DEDICATED, sets.dedicated, host.present, 'present')
    else:
        _check(DEDICATED, sets.dedicated, host.online, 'online')
    return sets.dedicated


#: The classes of processors, each with the rule for the processors that it has.
CLASSES: Mapping[str, Callable[[CpuSets, Host], frozenset[int]]] = {
    VCPU: shared,
    PCPU: dedicated,
}


def usable(sets: CpuSets, host: Host) -> dict[str, frozenset[int]]:
    """Return the processors of each class.

    :raises errors.DriverError: an option names others than the host has
    """
    return {rc: numbers(sets, host) for rc, numbers in CLASSES.items()}


def record(rc: str, count: int, sets: CpuSets) -> inventory.Record:
    """Return the record of a class with this number of processors.

    A guest shares only VCPU; processors of any other class are its own.

    :raises errors.DriverError: an option reserves more than these
    """
    if rc == VCPU:
        return host_inventory.record(
            rc, count, sets.reserved, 'reserved_host_cpus'
        )
    return {**host_inventory.record(rc, count), 'allocation_ratio': 1.0}


def _check(
    option: str, named: frozenset[int], usable: frozenset[int], word: str
) -> None:
    missing = named - usable
    if missing:
        raise errors.DriverError(
            f'{option} names processors {cpusets.listed(missing)}, which are not '
            f'{word} on this host ({word}: {cpusets.listed(usable)}): correct the '
            'option, or turn them on'
        )
