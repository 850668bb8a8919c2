# SPDX-License-Identifier: Apache-2.0
"""VCPU and PCPU: the processors that guests may use, by nova's rules.

Pure: no I/O, configuration, logging or clock. ``CpuSets`` are nova's options;
a combination that nova-compute refuses is refused here too. ``counts`` compares
them with the processors of the host. The processors come from libvirt, or from
the kernel's lists in /sys. ``options.py`` and ``root.py`` call this.
"""

import dataclasses
import re
from collections.abc import Collection

from compute_agent import errors

ONLINE = '/sys/devices/system/cpu/online'
PRESENT = '/sys/devices/system/cpu/present'

SHARED = '[compute] cpu_shared_set'
DEDICATED = '[compute] cpu_dedicated_set'
PIN_SET = '[DEFAULT] vcpu_pin_set'
RESERVED = '[DEFAULT] reserved_host_cpus'

# Far above any host; a typing error must not fill the memory.
_HIGHEST = 2**20
_RANGE = re.compile(r'(\d{1,8})(?:\s*-\s*(\d{1,8}))?', re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The processors of the host, by their numbers.

    :ivar present: those that exist, offline ones included
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
            f'{SHARED} and {DEDICATED} both name processors {listed(both)}: '
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


def parse(text: str | None, option: str) -> frozenset[int] | None:
    """Return the processors that an option names, None if it is not set.

    :param text: such as ``2-15,^8,24``
    :raises errors.ConfigError: it is no list of processors, or names none
    """
    if not text or not text.strip():
        return None
    named, excluded = set[int](), set[int]()
    for part in filter(None, (part.strip() for part in text.split(','))):
        target = excluded if part.startswith('^') else named
        numbers = _range(part.removeprefix('^').strip())
        if numbers is None:
            raise errors.ConfigError(
                f'{option} has {part[:40]!r}, which names no processors: '
                'write a list such as 2-15,^8,24'
            )
        target.update(numbers)
    if not named - excluded:
        raise errors.ConfigError(
            f'{option} names no processor: remove it, or write a list such as '
            '2-15,^8,24'
        )
    return frozenset(named - excluded)


def from_kernel(text: str | None, path: str) -> frozenset[int]:
    """Return the processors in a list of the kernel such as ``0-3,5``.

    :raises errors.DriverError: there is no list, or it cannot be parsed
    """
    if text is None:
        raise errors.DriverError(f'{path} cannot be read')
    ranges = [_range(part) for part in text.strip().split(',')]
    if None in ranges:
        raise errors.DriverError(
            f'{path} contains {text.strip()[:80]!r}, which is not a list of '
            'processors'
        )
    return frozenset(n for one in ranges if one is not None for n in one)


def _range(text: str) -> range | None:
    match = _RANGE.fullmatch(text)
    first, last = match.groups() if match else ('1', '0')
    numbers = range(int(first), int(last or first) + 1)
    return numbers if numbers and numbers[-1] < _HIGHEST else None


def listed(numbers: Collection[int]) -> str:
    """Return the numbers as the kernel lists them, for example ``0-3,5``."""
    parts: list[str] = []
    ordered = sorted(numbers)
    start = 0
    for i, number in enumerate(ordered):
        if i + 1 == len(ordered) or ordered[i + 1] != number + 1:
            first = ordered[start]
            parts.append(
                str(number) if first == number else f'{first}-{number}'
            )
            start = i + 1
    return ','.join(parts)


def shared(sets: CpuSets, host: Host) -> frozenset[int]:
    """Return the processors that are VCPU.

    ``vcpu_pin_set`` goes before ``cpu_shared_set``. If only dedicated
    processors are named, there are none; if no option is set, all that are
    online.

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


def _check(
    option: str, named: frozenset[int], usable: frozenset[int], word: str
) -> None:
    missing = named - usable
    if missing:
        raise errors.DriverError(
            f'{option} names processors {listed(missing)}, which are not '
            f'{word} on this host ({word}: {listed(usable)}): correct the '
            'option, or turn them on'
        )
