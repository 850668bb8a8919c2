# SPDX-License-Identifier: Apache-2.0
"""The providers of mediated devices, such as virtual GPUs, and their types.

Pure: no I/O, configuration, logging or clock. ``options/devices.py`` makes the types
that nova.conf enables. Each parent device has a provider of its own: a card, a
VF of a card that makes one device per VF, or a virtual parent. The amount is the
number of devices of the enabled type that exist and that can still be made. A
parent in use is never dropped because ``max_instances`` is reached.
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from compute_agent import errors
from compute_agent.tree import names as agent_names
from compute_agent.virt.values import finding

from . import names, traits
from .child import Child, Children, Kind, Records, Trouble
from .node_devices import MdevType, NodeDevices

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
    """The enabled types: by parent, and the type for all other parents.

    :ivar dropped: types without addresses that come too late to be used
    """

    by_address: Mapping[str, EnabledType] = dataclasses.field(
        default_factory=dict
    )
    default: EnabledType | None = None
    dropped: tuple[EnabledType, ...] = ()

    @classmethod
    def by_parents(cls, types: Sequence[EnabledType]) -> 'EnabledTypes':
        """Return the types by the parents that they are for.

        :raises errors.ConfigError: an address is wrong, or has two types
        """
        by_address: dict[str, EnabledType] = {}
        for one in types:
            for address in one.addresses:
                _check_address(one, address, by_address)
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


def _check_address(
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


# A longer name gives no valid trait.
_LONGEST_NAME = 200
# The beginning of libvirt's names of mediated devices.
_MDEV = 'mdev_'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A device that may have mediated devices.

    :ivar address: the PCI address, else libvirt's name of it
    :ivar existing: the types of its mediated devices, one for each
    """

    name: str
    address: str
    types: tuple[MdevType, ...]
    existing: tuple[str, ...]
    virt_functions: tuple[str, ...] = ()

    def offered(self, type_id: str) -> MdevType | None:
        """Return the type as the parent offers it."""
        return next((t for t in self.types if t.id == type_id), None)

    def count(self, type_id: str) -> int:
        """Return the number of its devices of a type."""
        return self.existing.count(type_id)


def children(
    root: str,
    devices: NodeDevices,
    types: EnabledTypes,
    reported: Collection[str],
) -> Children:
    """Return the providers of the parents of mediated devices.

    :param reported: the names of the children that placement has
    """
    reason = _unknown_share(devices, types)
    if reason:
        return Children(unknown_kinds={Kind.MDEV: reason})
    found = Children(notes=types.notes)
    left = _Limits(types, devices)
    parents = sorted(_parents(devices), key=lambda p: (not p.existing, p.name))
    for parent in parents:
        enabled = types.type_of(parent.address)
        if enabled is not None:
            found += _child(root, parent, enabled, left, reported)
    unknown = {
        names.node_device(root, device): reason
        for device, reason in devices.unreadable.items()
        if names.is_mdev_parent(device)
    }
    return found + Children(unknown=unknown)


def _unknown_share(devices: NodeDevices, types: EnabledTypes) -> str:
    """Return why no parent's amount is known, empty if nothing is wrong.

    Only the document of a mediated device tells its parent. With
    ``max_instances``, each parent's share depends on all others.
    """
    limited = bool(types.limited())
    for device, reason in devices.unreadable.items():
        if device.startswith(_MDEV) or (
            limited and names.is_mdev_parent(device)
        ):
            return reason
    return ''


def _parents(devices: NodeDevices) -> Iterable[Parent]:
    existing: dict[str, list[str]] = {}
    for mdev in devices.mdevs:
        existing.setdefault(mdev.parent, []).append(mdev.type)
    for device in devices.pci:
        yield Parent(
            name=device.name,
            address=device.address,
            types=device.mdev_types,
            existing=tuple(existing.get(device.name, ())),
            virt_functions=device.virt_functions or (),
        )
    for one in devices.virtual_parents:
        yield Parent(
            name=one.name,
            address=one.name.lower(),
            types=one.mdev_types,
            existing=tuple(existing.get(one.name, ())),
        )


class _Limits:
    """The devices of each type that parents may still offer."""

    def __init__(self, types: EnabledTypes, devices: NodeDevices) -> None:
        self._left = {t.id: t.max_instances or 0 for t in types.limited()}
        for parent in _parents(devices):
            enabled = types.type_of(parent.address)
            if enabled is not None and enabled.id in self._left:
                self._left[enabled.id] -= parent.count(enabled.id)

    def take(self, type_id: str, wanted: int) -> int:
        """Return as many of the wanted devices as the limit leaves."""
        if type_id not in self._left:
            return wanted
        taken = max(0, min(wanted, self._left[type_id]))
        self._left[type_id] -= taken
        return taken


def _child(
    root: str,
    parent: Parent,
    enabled: EnabledType,
    limits: _Limits,
    reported: Collection[str],
) -> Children:
    name = names.node_device(root, parent.name)
    offered = parent.offered(enabled.id)
    if not parent.types and not parent.virt_functions:
        known = enabled.names(parent.address) or name in reported
        return _without_types(name, parent, enabled) if known else Children()
    free = limits.take(enabled.id, offered.available if offered else 0)
    total = parent.count(enabled.id) + free
    if not total:
        return _nothing(name, parent, enabled, offered)
    return Children(
        known=(
            Child(
                name=name,
                kind=Kind.MDEV,
                inventory=_inventory(enabled, total),
                findings=_findings(name, enabled, offered),
            ),
        )
    )


def _nothing(
    name: str,
    parent: Parent,
    enabled: EnabledType,
    offered: MdevType | None,
) -> Children:
    """Return no child; if nova.conf names the parent, add a note that says why."""
    if offered is not None or not enabled.names(parent.address):
        return Children()
    note = (
        f'{name}: not reported, because {parent.address} does not offer the '
        f'type {enabled.id}; correct [mdev_{enabled.id}] device_addresses'
    )
    return Children(notes=(note,))


def _without_types(
    name: str, parent: Parent, enabled: EnabledType
) -> Children:
    """Return a reserved provider: the driver of the device should offer types.

    ``placing.py`` makes no provider of it if placement has none.
    """
    trouble = Trouble(
        trait=traits.NO_MDEV_TYPES,
        reason=f'device {parent.name} offers no type of mediated devices, '
        f'and should offer {enabled.id}; is its driver loaded?',
    )
    count = parent.count(enabled.id)
    return Children(
        known=(
            Child(
                name=name,
                kind=Kind.MDEV,
                inventory=_inventory(enabled, count) if count else None,
                findings=_findings(name, enabled, None),
                trouble=trouble,
            ),
        )
    )


def _inventory(enabled: EnabledType, total: int) -> Records:
    return {
        enabled.resource_class: {
            'total': total,
            'reserved': 0,
            'min_unit': 1,
            'max_unit': total,
            'step_size': 1,
            'allocation_ratio': 1.0,
        }
    }


def _findings(
    name: str, enabled: EnabledType, offered: MdevType | None
) -> tuple[finding.Finding, ...]:
    texts = {enabled.id: f"mdev type id '{enabled.id}'"}
    if offered is not None and offered.name:
        texts.setdefault(offered.name, f"mdev type name '{offered.name}'")
    facts = {
        agent_names.custom_name(f'MDEV_{text}'): fact
        for text, fact in texts.items()
        if len(text) <= _LONGEST_NAME
    }
    return (
        traits.owner(name),
        *(
            traits.present(name, trait, fact, traits.LIBVIRT)
            for trait, fact in facts.items()
        ),
    )


def not_whole(
    root: str,
    devices: NodeDevices,
    types: EnabledTypes,
    found: Children,
    reported: Collection[str],
) -> dict[str, str]:
    """Return PCI address → the reason why no guest gets the whole device.

    :param found: the known providers of the parents
    :param reported: the names of the children that placement has
    """
    selected = {child.name for child in found.known} | set(found.unknown)
    may_have = _may_have(devices, types, found)
    parents = {one.parent for one in devices.mdevs}
    reasons = {}
    for device in devices.pci:
        name, address = names.node_device(root, device.name), device.address
        if name in selected:
            reasons[address] = (
                f'the provider {name} stands for {address}; take it out of '
                '[pci] device_spec or of [devices] enabled_mdev_types'
            )
        elif device.name in parents:
            reasons[address] = (
                f'{address} has mediated devices; remove them, or take it '
                'out of [pci] device_spec'
            )
        elif name in reported:
            reasons[address] = f'placement has the provider {name} for it'
        elif address in may_have:
            reasons[address] = (
                'a device that cannot be read may be a mediated device of '
                f'{address}'
            )
    return reasons


def _may_have(
    devices: NodeDevices, types: EnabledTypes, found: Children
) -> set[str]:
    """Return the addresses that may have mediated devices we cannot read."""
    is_unread = Kind.MDEV in found.unknown_kinds or any(
        name.startswith(_MDEV) for name in devices.unreadable
    )
    if not is_unread:
        return set()
    return {
        device.address
        for device in devices.pci
        if device.mdev_types
        or (
            (one := types.type_of(device.address))
            and one.names(device.address)
        )
    }
