# SPDX-License-Identifier: Apache-2.0
"""Puts the child providers of a host into the provider tree.

Pure: no I/O, configuration, logging or clock. An unknown child stays as
placement has it. A child of ours that the host has no more is removed; the
agent keeps one with allocations, reserved, and one that it did not create.
Traits are declared, so those that operators set on a child stay. One device
has one provider: if cyborg or neutron has one for it, the driver makes none.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping

from compute_agent.tree import inventory as agent_inventory
from compute_agent.tree import names as agent_names
from compute_agent.tree import provider_tree as tree_module
from compute_agent.virt.values import finding

from . import names, traits
from .child import Child, Children, Kind, Records
from .node_devices import NodeDevices

_OWNER = 'OWNER_'
# neutron names a provider host:agent type:device.
_NIC_AGENT = re.compile(r'.+:NIC Switch agent:(?P<interface>[^:]+)')

Data = tree_module.ProviderData
Tree = tree_module.ProviderTree

#: The fields that the driver decides. The ratio is the operators' if the
# driver gives none.
_FIELDS = ('total', 'reserved', 'min_unit', 'max_unit', 'step_size')


def reported(tree: Tree, root: str) -> Mapping[str, Data]:
    """Return the providers below the root in placement, by name."""
    below = tree.get_provider_uuids(root)[1:]
    return {data.name: data for data in map(tree.data, below)}


# --- other projects -----------------------------------------------------------


def owners(data: Data) -> list[str]:
    """Return the other projects that claim a provider by their trait."""
    return sorted(
        trait
        for trait in data.traits
        if trait.startswith(_OWNER) and trait != agent_names.OWNER_NOVA
    )


def claimed(
    root: str, providers: Iterable[Data], devices: NodeDevices
) -> dict[str, str]:
    """Return PCI address → the provider of another project that has it."""
    found = {}
    interfaces = _addresses_of_interfaces(devices)
    listed = {net.interface for net in devices.net}
    for data in providers:
        for address in _addresses(root, data, interfaces):
            found[address] = f'the provider {data.name} stands for {address}'
        nic = _NIC_AGENT.fullmatch(data.name)
        if nic is not None and nic['interface'] not in listed:
            for address in _cards_without_interface(devices):
                found.setdefault(
                    address,
                    f'the provider {data.name} may stand for {address}: '
                    f'libvirt lists no interface {nic["interface"]}, and none '
                    f'of {address}',
                )
    return found


def _cards_without_interface(devices: NodeDevices) -> list[str]:
    """Return the addresses of network cards without interface, except VFs."""
    parents = {net.parent for net in devices.net}
    return [
        device.address
        for device in devices.pci
        if device.is_network_card
        and device.phys_function is None
        and device.name not in parents
    ]


def _addresses(
    root: str, data: Data, interfaces: Mapping[str, str]
) -> Iterator[str]:
    address = names.device_of(root, data.name)
    if address is not None and owners(data):
        yield address
    nic = _NIC_AGENT.fullmatch(data.name)
    if nic is not None and nic['interface'] in interfaces:
        yield interfaces[nic['interface']]


def _addresses_of_interfaces(devices: NodeDevices) -> dict[str, str]:
    addresses = {d.name: d.address for d in devices.pci}
    return {
        net.interface: addresses[net.parent]
        for net in devices.net
        if net.parent in addresses
    }


def without(
    found: Children,
    root: str,
    devices: NodeDevices,
    others: Mapping[str, str],
) -> Children:
    """Return the children whose devices have no provider of another project.

    :param others: PCI address → the reason why the device is another's
    """
    left = {
        names.node_device(root, device.name): others[device.address]
        for device in devices.pci
        if device.address in others
    }
    claimed = [c.name for c in found.known if c.name in left]
    return dataclasses.replace(
        found,
        known=tuple(c for c in found.known if c.name not in left),
        unknown={**found.unknown, **dict.fromkeys(claimed, '')},
        notes=(
            *found.notes,
            *(f'{n}: left as it is, because {left[n]}' for n in claimed),
        ),
    )


# --- the edits ----------------------------------------------------------------


def numa_nodes(tree: Tree, root: str) -> dict[str, str]:
    """Return uuid → name of the NUMA nodes below the root with inventory."""
    return {
        data.uuid: name
        for name, data in reported(tree, root).items()
        if names.kind(root, name) is Kind.NUMA
        and _is_of(Kind.NUMA, data)
        and data.inventory
    }


def place(tree: Tree, root: str, children: Children) -> None:
    """Edit the tree until it has these children of the root.

    :param root: the root provider's name
    """
    before = reported(tree, root)
    for child in children.known:
        _place(tree, root, child, before.get(child.name))
    known = {child.name for child in children.known}
    ours = {
        name: kind
        for name, data in before.items()
        if (kind := names.kind(root, name)) is not None and _is_of(kind, data)
    }
    for name, kind in ours.items():
        if name not in known:
            _leave_or_remove(tree, children, name, kind)
    _note_unknown(tree, children, ours)
    for note in children.notes:
        tree.note(note)
    for fault in children.faults:
        tree.fault(fault)


def _leave_or_remove(
    tree: Tree, children: Children, name: str, kind: Kind
) -> None:
    reason = children.unknown.get(name, children.unknown_kinds.get(kind))
    if reason is None:
        tree.remove(name)
    else:
        _note(tree, children, f'{name}: left as it is', reason)


def _note_unknown(
    tree: Tree, children: Children, ours: Mapping[str, Kind]
) -> None:
    """Tell which children are unknown that placement does not have."""
    told = {children.unknown.get(name, '') for name in ours}
    for name, reason in children.unknown.items():
        if name not in children.unlikely and reason not in told:
            told.add(reason)
            _note(tree, children, f'{name}: not reported', reason)
    for kind, reason in children.unknown_kinds.items():
        if kind not in ours.values():
            _note(tree, children, f'no {kind.value} are reported', reason)


def _note(tree: Tree, children: Children, what: str, reason: str) -> None:
    if reason and reason not in children.faults:
        tree.note(f'{what}, because {reason}')


def _is_of(kind: Kind, data: Data) -> bool:
    """Return True if a provider with such a name is a child of this kind."""
    if owners(data):
        return False
    if kind is Kind.PCI:
        return traits.MANAGED in data.traits
    return agent_names.OWNER_NOVA in data.traits


def _place(tree: Tree, root: str, child: Child, before: Data | None) -> None:
    if before is not None and owners(before):
        tree.note(
            f'{child.name}: not changed, because another project claims it '
            f'({", ".join(owners(before))})'
        )
        return
    if before is not None and (marks := _unread_marks(child, before)):
        tree.note(
            f'{child.name}: stays reserved ({", ".join(marks)}), because its '
            'device cannot be looked at now'
        )
        return
    records = _records(child, before)
    if not records:
        return
    if before is None:
        tree.new_child(child.name, root)
    tree.update_inventory(child.name, agent_inventory.as_given(records))
    wanted = set(child.traits(finding.Found.PRESENT))
    if before is not None:
        wanted |= child.traits(finding.Found.UNKNOWN) & before.traits
    if child.trouble is not None:
        wanted.add(child.trouble.trait)
        tree.note(
            f'{child.name}: its inventory is to be reserved '
            f'({child.trouble.trait}), because {child.trouble.reason}'
        )
    tree.declare_traits(child.name, *wanted)


def _unread_marks(child: Child, before: Data) -> list[str]:
    """Return the marks of the child that cannot be looked into now."""
    if child.trouble is not None:
        return []
    return sorted(child.unread & before.traits)


def _records(child: Child, before: Data | None) -> Records:
    """Return the inventory, reserved as a whole or by an operator."""
    current = {} if before is None else before.inventory
    if child.inventory is None:
        wanted = {rc: _of_driver(r) for rc, r in current.items()}
    else:
        wanted = {rc: dict(r) for rc, r in child.inventory.items()}
    for rc, record in wanted.items():
        if child.trouble is not None or child.reserved:
            record['reserved'] = record['total']
        elif child.operators_reserve and not _is_lifted(child, before):
            reserved = current.get(rc, {}).get('reserved', 0)
            record['reserved'] = min(reserved, record['total'])
    return wanted


def _of_driver(
    record: Mapping[str, int | float],
) -> dict[str, int | float]:
    return {field: record[field] for field in _FIELDS if field in record}


def _is_lifted(child: Child, before: Data | None) -> bool:
    """Return True if the driver reserved the inventory, and no longer does.

    A device for one use stays reserved, as it may have been used before.
    """
    once = traits.ONE_TIME_USE in child.traits(finding.Found.PRESENT)
    return (
        before is not None and bool(traits.MARKS & before.traits) and not once
    )
