# SPDX-License-Identifier: Apache-2.0
"""The values of a host: facts, devices, and everything known of one host.

Pure: no I/O, configuration, logging or clock. The modules of this folder make
these values, ``rules/`` and the command ``facts`` read them.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import TypeAlias

from compute_agent.virt.values import host_facts

#: Plain data, as in JSON; a sequence is a tuple.
Value: TypeAlias = host_facts.Value

#: The families that have devices.
DEVICE_FAMILIES = ('block', 'gpu', 'mdev_type', 'net', 'pci', 'usb')

_NAME = re.compile(r'[a-z][a-z0-9_]*\.[a-z0-9_]+', re.ASCII)

# The library of the rules crashes for an integer of thousands of digits, and
# for a list in thousands of lists. Real values are far smaller.
_WHOLE = range(-(1 << 63), 1 << 64)
_DEEPEST = 8
_LARGEST = 1_000_000  # characters and items


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One named value of a host.

    :ivar name: the family and the name in it, for example ``cpu.flags``
    :ivar value: the value; without meaning if the fact is unknown
    :ivar source: a path, ``libvirt``, or what else the value was read from
    :ivar unknown: why the value is unknown; empty if it is known
    """

    name: str
    value: Value
    source: str
    unknown: str = ''

    def __eq__(self, other: object) -> bool:
        """Return True for the same fact; 1, 1.0 and true are different."""
        if not isinstance(other, Fact):
            return NotImplemented
        return (self.name, self.source, self.unknown) == (
            other.name,
            other.source,
            other.unknown,
        ) and _same(self.value, other.value)

    def __hash__(self) -> int:
        return hash((self.name, self.source, self.unknown))

    def __post_init__(self) -> None:
        """Refuse a name that no rule can write.

        A value that no rule may read is unknown.

        :raises ValueError: the name is not ``family.name`` in lower case
        """
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f'{self.name!r} is not the name of a fact: write family.name '
                'in lower case, with letters, digits and underscores'
            )
        excess = '' if self.unknown else _excess(self.value)
        if excess:
            object.__setattr__(self, 'unknown', excess)
            object.__setattr__(self, 'value', None)

    @property
    def family(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition('.')[0]

    @property
    def attribute(self) -> str:
        """The part of the name after the dot."""
        return self.name.partition('.')[2]


def _excess(value: Value) -> str:
    """Return why a value is too large for a rule; empty if it is not."""
    size, depth, level = 0, 0, [value]
    while level:
        if depth > _DEEPEST:
            return f'it has lists in lists in more than {_DEEPEST} levels'
        inner: list[Value] = []
        for one in level:
            if isinstance(one, int) and one not in _WHOLE:
                return f'it is not from {_WHOLE[0]} to {_WHOLE[-1]}'
            size += len(one) if isinstance(one, str) else 1
            if isinstance(one, Mapping):
                size += sum(map(len, one))
                inner.extend(one.values())
            elif isinstance(one, tuple):
                inner.extend(one)
        if size > _LARGEST:
            return f'it has more than {_LARGEST} characters and items'
        level, depth = inner, depth + 1
    return ''


def _same(one: Value, other: Value) -> bool:
    """Return True for equal values of equal types, inner ones included."""
    if one is other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            _same(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device of a family that has devices.

    :ivar name: its stable name: a PCI address, an interface, …
    :ivar facts: attribute → fact; the name of the fact is family.attribute
    """

    family: str
    name: str
    facts: Mapping[str, Fact]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything known of one host.

    :ivar facts: name → fact, without the facts of devices
    :ivar devices: family → its devices, or a fact that is unknown if the list
        cannot be read
    :ivar incomplete: family → why it may have facts that are not listed
    :ivar faults: a line for each source that was refused
    """

    facts: Mapping[str, Fact]
    devices: Mapping[str, tuple[Device, ...] | Fact]
    incomplete: Mapping[str, str] = dataclasses.field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def get(self, name: str) -> Fact | None:
        """Return the fact of this name; None if the host has no such fact.

        The fact is unknown if its family could not be read completely.
        """
        found = self.facts.get(name)
        reason = self.incomplete.get(name.partition('.')[0])
        if found is None and reason is not None:
            return Fact(name=name, value=None, source='', unknown=reason)
        return found
