# SPDX-License-Identifier: Apache-2.0
"""The types of mediated devices that nova.conf enables, and their parents.

Pure: no I/O, configuration, logging or clock. ``options.py`` makes these values
from configuration, ``mdev.py`` applies them to the devices of the host.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from compute_agent import errors

from . import names

VGPU = 'VGPU'

_VIRTUAL = re.compile(r'[A-Za-z0-9]+(_[A-Za-z0-9]+)+')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EnabledType:
    """A type of mediated devices that nova.conf enables.

    :ivar addresses: the PCI addresses of its parents, or libvirt's names of
        virtual parents; empty for all parents that no other type names
    :ivar max_instances: how many of them all parents offer together
    """

    id: str
    resource_class: str = VGPU
    addresses: tuple[str, ...] = ()
    max_instances: int | None = None

    def names(self, address: str) -> bool:
        """Return True if the type is for this parent by its address."""
        return address in {one.lower() for one in self.addresses}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EnabledTypes:
    """The enabled types: those of single parents, and the one of the others.

    :ivar dropped: types without addresses that come too late to be used
    """

    by_address: Mapping[str, EnabledType] = dataclasses.field(
        default_factory=dict
    )
    default: EnabledType | None = None
    dropped: tuple[EnabledType, ...] = ()

    @classmethod
    def of(cls, types: Sequence[EnabledType]) -> 'EnabledTypes':
        """Return the types by the parents that they are for.

        :raises errors.ConfigError: an address is wrong, or has two types
        """
        by_address: dict[str, EnabledType] = {}
        for one in types:
            for address in one.addresses:
                _check(one, address, by_address)
                by_address[address.lower()] = one
        others = [t for t in types if not t.addresses]
        return cls(
            by_address=by_address,
            default=others[0] if others else None,
            dropped=tuple(others[1:]),
        )

    def type_of(self, address: str) -> EnabledType | None:
        """Return the type that is enabled for a parent, None if none is.

        :param address: its PCI address, or libvirt's name, in lower case
        """
        return self.by_address.get(address, self.default)

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each type that is not used."""
        first = self.default.id if self.default else ''
        return tuple(
            f'the mdev type {one.id} is not used, because {first} is for all '
            f'parents without a type; set [mdev_{one.id}] device_addresses'
            for one in self.dropped
        )

    def limited(self) -> list[EnabledType]:
        """Return the types with a limit for the whole host."""
        types = (*self.by_address.values(), self.default)
        return [t for t in types if t is not None and t.max_instances]


def _check(
    one: EnabledType, address: str, taken: Mapping[str, EnabledType]
) -> None:
    option = f'[mdev_{one.id}] device_addresses'
    if not (names.is_address(address) or _VIRTUAL.fullmatch(address)):
        raise errors.ConfigError(
            f'{option}: {address!r} is neither a PCI address like '
            '0000:84:00.0 nor a virtual parent like mtty_mtty'
        )
    if address.lower() in taken:
        raise errors.ConfigError(
            f'{option}: {address} has the type {taken[address.lower()].id} '
            'already; name each address once'
        )
