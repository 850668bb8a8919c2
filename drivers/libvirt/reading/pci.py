# SPDX-License-Identifier: Apache-2.0
"""The providers of PCI devices that nova gives to guests.

It does I/O through ``HostFiles``: the health of the devices is in files. A PF or
a plain device has a provider of its own with one unit. A VF or a vDPA device is one
unit of its PF's provider. What nova refuses at its start because of the
devices is a fault here: the provider concerned stays as it is.
"""

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence

from compute_agent.tree import names as agent_names
from compute_agent.virt.values import finding

from ...host_files import HostFiles
from ..devices import names, traits
from ..devices.child import Child, Children, Kind, Records, Trouble
from ..devices.node_devices import MAX_DOMAIN, NodeDevices, PciDevice
from ..devices.pci_specs import DeviceSpec
from . import health, nic

Match = tuple[PciDevice, DeviceSpec]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The inputs of the decision besides the devices.

    :ivar assigned: the addresses of devices that guests have; None if unknown
    :ivar elsewhere: address → the reason why another provider has the device
    :ivar numa_traits: True to report the NUMA node as a trait
    """

    specs: tuple[DeviceSpec, ...]
    assigned: frozenset[str] | None = None
    elsewhere: Mapping[str, str] = dataclasses.field(default_factory=dict)
    numa_traits: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The matched devices of one provider: one device, or VFs of a PF."""

    whole: Match | None = None
    parts: tuple[Match, ...] = ()

    @property
    def matches(self) -> tuple[Match, ...]:
        return (self.whole,) if self.whole else self.parts


def children(
    root: str, devices: NodeDevices, facts: Facts, files: HostFiles
) -> Children:
    """Return the providers of the devices that the entries select."""
    refused = refused_specs(devices, facts.specs)
    if refused:
        return Children(faults=(refused,), unknown_kinds={Kind.PCI: refused})
    found = Children(unknown=_unreadable(root, devices))
    by_address = {d.address: d for d in devices.pci}
    for address, group in sorted(_groups(devices, facts.specs).items()):
        name = names.pci(root, address)
        if name in found.unknown:
            continue
        owner = by_address.get(address)
        wrong = _refused(name, group)
        kept = _elsewhere(group, facts) or _unknown_use(group, facts)
        if wrong:
            found += Children(faults=(wrong,), unknown={name: wrong})
        elif kept:
            note = f'{name}: left as it is, because {kept}'
            found += Children(notes=(note,), unknown={name: ''})
        else:
            found += Children(
                known=(_child(name, owner, group, devices, facts, files),)
            )
    return found


# --- the devices of each provider ---------------------------------------------


# The devices are the same in most cycles, and there may be hundreds.
@functools.lru_cache(maxsize=1)
def _groups(
    devices: NodeDevices, specs: tuple[DeviceSpec, ...]
) -> Mapping[str, _Group]:
    """Return address of the provider's device → the devices it offers."""
    owned: dict[str, list[Match]] = {}
    for match in matches(devices, specs):
        owned.setdefault(_owner(match[0]), []).append(match)
    return {address: _group(found) for address, found in owned.items()}


def _group(found: Sequence[Match]) -> _Group:
    whole = [match for match in found if match[0].phys_function is None]
    return _Group(
        whole=whole[-1] if whole else None,
        parts=tuple(match for match in found if match not in whole),
    )


def matches(
    devices: NodeDevices, specs: Sequence[DeviceSpec]
) -> Iterator[Match]:
    """Yield the devices that placement has, each with its entry.

    Devices of a physical network are neutron's, and nova tracks them without
    placement.
    """
    serials = {d.address: d.serial for d in devices.pci}
    for device in devices.pci:
        if int(device.address.partition(':')[0], 16) > MAX_DOMAIN:
            continue
        serial = device.serial or serials.get(device.phys_function or '', '')
        spec = next((s for s in specs if s.selects(device, serial)), None)
        if spec is not None and not spec.physical_network:
            yield device, spec


def _owner(device: PciDevice) -> str:
    """Return the address of the device that has the provider."""
    return device.phys_function or device.address


def _unreadable(root: str, devices: NodeDevices) -> dict[str, str]:
    """Return the children that unreadable devices belong to, with reasons."""
    found = {}
    for device, reason in devices.unreadable.items():
        address = names.address(device)
        if address is not None:
            found[names.pci(root, address)] = reason
            for pf in devices.pci:
                if address in (pf.virt_functions or ()):
                    found[names.pci(root, pf.address)] = reason
    return found


# --- what nova refuses --------------------------------------------------------


def refused_specs(
    devices: NodeDevices, specs: Sequence[DeviceSpec]
) -> str | None:
    """Return why nova would not start with these entries on this host."""
    for spec in specs:
        if not (spec.remote_managed and spec.address.single):
            continue
        for pf in devices.pci:
            if pf.is_pf and spec.address.matches(pf.address):
                return _refused_pf(spec, pf, devices)
    return None


def _refused_pf(
    spec: DeviceSpec, pf: PciDevice, devices: NodeDevices
) -> str | None:
    vendor = spec.vendor in ('*', pf.vendor)
    virtual = {d.product for d in devices.pci if d.phys_function == pf.address}
    if vendor and spec.product in virtual:
        return None
    where = f'[pci] device_spec = {spec.text}'
    if vendor and spec.product in ('*', pf.product):
        return (
            f'{where}: {pf.address} is a PF, and only VFs can be '
            'remote_managed; add the product_id of its VFs'
        )
    return (
        f'{where}: vendor_id and product_id are not those of the VFs of '
        f'{pf.address}; correct them'
    )


def _refused(name: str, group: _Group) -> str | None:
    """Return why these devices cannot share a provider, None if they can."""
    text = ''
    if group.whole and group.parts:
        part = group.parts[0][0].address
        text = f'a PF and its VF {part} are both selected'
    elif not group.whole:
        text = _mixed(group.parts)
    if not text:
        return None
    return f'{name}: not changed, because {text}; correct [pci] device_spec'


def _mixed(parts: Sequence[Match]) -> str:
    if len({spec.class_of(device) for device, spec in parts}) > 1:
        return 'VFs of one PF have different resource classes'
    if len({(s.traits, s.live_migratable) for _, s in parts}) > 1:
        return 'VFs of one PF have different traits'
    if any(spec.one_time_use is not None for _, spec in parts):
        return 'one_time_use is for PFs and plain devices, not for VFs'
    return ''


def _elsewhere(group: _Group, facts: Facts) -> str | None:
    for device, _ in group.matches:
        for address in (device.address, _owner(device)):
            if address in facts.elsewhere:
                return facts.elsewhere[address]
    return None


def _unknown_use(group: _Group, facts: Facts) -> str | None:
    once = any(spec.one_time_use for _, spec in group.matches)
    if once and facts.assigned is None:
        return 'libvirt does not tell which devices its guests have'
    return None


# --- one provider -------------------------------------------------------------


def _child(
    name: str,
    owner: PciDevice | None,
    group: _Group,
    devices: NodeDevices,
    facts: Facts,
    files: HostFiles,
) -> Child:
    device, spec = group.matches[0]
    total = len(group.matches)
    assigned = facts.assigned or ()
    return Child(
        name=name,
        kind=Kind.PCI,
        inventory=_inventory(spec.class_of(device), total),
        findings=(
            *_findings(name, spec),
            *_numa(name, owner or device, facts),
            *nic.findings(name, owner or device, devices, files),
        ),
        trouble=_trouble(group, owner, files),
        unread=health.unread(owner, files) if owner else frozenset(),
        reserved=bool(spec.one_time_use) and device.address in assigned,
        operators_reserve=True,
    )


def _inventory(resource_class: str, total: int) -> Records:
    return {resource_class: {'total': total, 'max_unit': total}}


def _trouble(
    group: _Group, owner: PciDevice | None, files: HostFiles
) -> Trouble | None:
    """Return the trouble of the provider's device.

    A PF with VFs cannot be given away as a whole: its VFs are in use, or would
    be lost.
    """
    if owner is None:
        return None
    if group.whole and owner.virt_functions:
        return Trouble(
            trait=traits.VFS_ENABLED,
            reason=f'PCI device {owner.address} has VFs, so it cannot be '
            'given away as a whole; set its sriov_numvfs to 0, or select its '
            'VFs in [pci] device_spec',
        )
    return health.trouble(owner, files)


def _findings(name: str, spec: DeviceSpec) -> Iterator[finding.Finding]:
    option = '[pci] device_spec'
    yield traits.owner(name)
    yield traits.present(
        name, traits.MANAGED, '[pci] report_in_placement', traits.OPTION
    )
    for trait in sorted(spec.traits):
        yield traits.present(name, trait, f'{option} traits', traits.OPTION)
    tags = {
        traits.LIVE_MIGRATABLE: ('live_migratable', spec.live_migratable),
        traits.ONE_TIME_USE: ('one_time_use', bool(spec.one_time_use)),
    }
    for trait, (tag, found) in tags.items():
        if trait not in spec.traits:
            yield traits.decided(
                name, trait, f'{option} {tag}', traits.OPTION, found=found
            )


def _numa(
    name: str, device: PciDevice, facts: Facts
) -> Iterator[finding.Finding]:
    if facts.numa_traits and device.numa_node is not None:
        node = device.numa_node
        yield traits.present(
            name,
            agent_names.custom_name(f'NUMA_{node}'),
            f"numa node='{node}'",
            traits.LIBVIRT,
        )
