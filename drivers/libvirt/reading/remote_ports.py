# SPDX-License-Identifier: Apache-2.0
"""The trait of hosts with VFs for remote-managed ports, as of a SmartNIC.

It does I/O through ``libvirtd/``, and only if an entry of ``[pci] device_spec``
has the tag ``remote_managed``. Such VFs mostly have a physical network too, so
no provider stands for them, and the host's own provider has the trait.
``root_traits.py`` calls this.
"""

from collections.abc import Iterator, Mapping, Sequence

from compute_agent.virt.values import finding

from ...libvirtd import hypervisor
from ..devices import node_devices, traits
from ..devices.node_devices import NodeDevices, PciDevice
from ..devices.pci_specs import DeviceSpec
from . import pci

TRAIT = 'COMPUTE_REMOTE_MANAGED_PORTS'
# The release from which libvirt tells the serial number of a card.
_SINCE = (7, 9, 0)
_TAG = '[pci] device_spec remote_managed'
_DEVICES = ('pci_', 'net_')

Found = finding.Found


def read(
    libvirt: hypervisor.Hypervisor, specs: Sequence[DeviceSpec]
) -> finding.Finding:
    """Return the finding about the trait.

    :param specs: all entries of device_spec, those outside placement included
    """
    if not any(spec.remote_managed for spec in specs):
        return _finding(Found.ABSENT, 'no entry has the tag')
    try:
        if libvirt.versions().libvirt < _SINCE:
            return _finding(Found.ABSENT, 'libvirt is older than 7.9.0')
        devices = node_devices.read(libvirt.node_devices())
    except hypervisor.Unanswered as exc:
        return _finding(Found.UNKNOWN, str(exc))
    return _by_devices(devices, specs)


def _by_devices(
    devices: NodeDevices, specs: Sequence[DeviceSpec]
) -> finding.Finding:
    refused = pci.refused_specs(devices, specs)
    if refused:
        return _finding(Found.UNKNOWN, refused)
    for device, spec in _selected(devices, specs):
        if spec.remote_managed:
            return finding.Finding(
                trait=TRAIT,
                found=Found.PRESENT,
                fact=f'{_TAG} selects {device.address}',
                sources=(traits.LIBVIRT,),
            )
    for name, reason in devices.unreadable.items():
        if name.startswith(_DEVICES):
            return _finding(Found.UNKNOWN, reason)
    return _finding(
        Found.ABSENT,
        'it selects no device of a card with a serial number',
    )


def _selected(
    devices: NodeDevices, specs: Sequence[DeviceSpec]
) -> Iterator[pci.Match]:
    """Yield each device with the first entry that selects it."""
    addresses = {d.name: d.address for d in devices.pci}
    interfaces = {
        net.interface: addresses[net.parent]
        for net in devices.net
        if net.parent in addresses
    }
    serials = {d.address: d.serial for d in devices.pci}
    for device in devices.pci:
        serial = device.serial or serials.get(device.phys_function or '', '')
        for spec in specs:
            if _has_interface(spec, device, interfaces) and spec.selects(
                device, serial
            ):
                yield device, spec
                break


def _has_interface(
    spec: DeviceSpec, device: PciDevice, interfaces: Mapping[str, str]
) -> bool:
    """Return True if the entry names no interface, or the device's or its PF's."""
    if not spec.interface:
        return True
    address = interfaces.get(spec.interface)
    return address in {device.address, device.phys_function} - {None}


def _finding(found: Found, reason: str) -> finding.Finding:
    return finding.Finding(trait=TRAIT, found=found, fact=_TAG, reason=reason)
