# SPDX-License-Identifier: Apache-2.0
"""The traits of a network card, on the provider of its PF.

It reads the number of queues through ``HostFiles``. libvirt lists the
offloads of the PF's network interface. A card with several has an offload if
all its uplinks have it; representors of VFs (switchdev mode) decide nothing. If
the host has no interface of it, because the PF is bound to vfio-pci for example,
the traits are unknown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compute_agent.virt.values import finding

from ...host_files import HostFiles
from ..devices import traits
from ..devices.node_devices import NetDevice, NodeDevices, PciDevice

SRIOV = 'HW_NIC_SRIOV'
MULTIQUEUE = 'HW_NIC_MULTIQUEUE'

# libvirt's name of the feature → trait (libvirt: docs/formatnode; os-traits:
# hw/nic/offload.py).
OFFLOADS: Mapping[str, str] = {
    'gro': 'HW_NIC_OFFLOAD_GRO',
    'gso': 'HW_NIC_OFFLOAD_GSO',
    'lro': 'HW_NIC_OFFLOAD_LRO',
    'rdma': 'HW_NIC_OFFLOAD_RDMA',
    'rx': 'HW_NIC_OFFLOAD_RX',
    'rxhash': 'HW_NIC_OFFLOAD_RXHASH',
    'rxvlan': 'HW_NIC_OFFLOAD_RXVLAN',
    'sg': 'HW_NIC_OFFLOAD_SG',
    'switchdev': 'HW_NIC_OFFLOAD_SWITCHDEV',
    'tso': 'HW_NIC_OFFLOAD_TSO',
    'tx': 'HW_NIC_OFFLOAD_TX',
    'txudptnl': 'HW_NIC_OFFLOAD_TXUDP',
    'txvlan': 'HW_NIC_OFFLOAD_TXVLAN',
}

_ETHERNET = '/sys/class/net/'
# The kernel's phys_port_name of a representor: pf0vf3, c1pf0vf3, pf0sf88, and
# the number alone with older drivers.
_REPRESENTOR = re.compile(r'(c\d+)?(pf\d+)?(vf|sf)\d+|\d+')


def findings(
    child: str, device: PciDevice, devices: NodeDevices, files: HostFiles
) -> Iterator[finding.Finding]:
    """Yield the traits of a device that is a network card, and no others."""
    interfaces = [n for n in devices.net if n.parent == device.name]
    if not (interfaces or device.is_network_card):
        return
    if device.is_pf:
        yield traits.present(child, SRIOV, 'virt_functions', traits.LIBVIRT)
    if interfaces:
        uplinks = _uplinks(interfaces, files)
        yield from _offloads(child, uplinks)
        yield _queues(child, uplinks, files)
    else:
        yield from _unknown(child, device)


def _uplinks(
    interfaces: Sequence[NetDevice], files: HostFiles
) -> Sequence[NetDevice]:
    """Return the interfaces of the card itself; all if none seems to be."""
    return [
        one
        for one in interfaces
        if not _REPRESENTOR.fullmatch(
            files.word(f'{_ETHERNET}{one.interface}/phys_port_name') or ''
        )
    ] or interfaces


def _unknown(child: str, device: PciDevice) -> Iterator[finding.Finding]:
    decided = {SRIOV} if device.is_pf else set()
    for trait in (SRIOV, MULTIQUEUE, *OFFLOADS.values()):
        if trait not in decided:
            yield finding.Finding(
                trait=trait,
                found=finding.Found.UNKNOWN,
                fact='',
                reason='the host has no network interface of the device',
                provider=child,
            )


def _offloads(
    child: str, uplinks: Sequence[NetDevice]
) -> Iterator[finding.Finding]:
    names = ', '.join(one.interface for one in uplinks)
    for feature, trait in OFFLOADS.items():
        yield traits.decided(
            child,
            trait,
            f"net feature '{feature}' of {names}",
            traits.LIBVIRT,
            found=_each(
                None if one.features is None else feature in one.features
                for one in uplinks
            ),
        )


def _queues(
    child: str, uplinks: Sequence[NetDevice], files: HostFiles
) -> finding.Finding:
    paths = [f'{_ETHERNET}{one.interface}/queues' for one in uplinks]
    return traits.decided(
        child,
        MULTIQUEUE,
        ', '.join(paths),
        traits.KERNEL,
        found=_each(_are_several(files.names(path)) for path in paths),
    )


def _are_several(queues: Sequence[str] | None) -> bool | None:
    return (
        None
        if queues is None
        else any(
            sum(name.startswith(side) for name in queues) > 1
            for side in ('rx-', 'tx-')
        )
    )


def _each(answers: Iterable[bool | None]) -> bool | None:
    """Return False if one is False; otherwise None if one is unknown."""
    listed = list(answers)
    if False in listed:
        return False
    return None if None in listed else True
