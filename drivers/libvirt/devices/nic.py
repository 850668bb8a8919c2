# SPDX-License-Identifier: Apache-2.0
"""The traits of a network card, on the provider of its PF.

It reads the number of queues through ``host.HostFiles``. libvirt lists the
offloads of the PF's network interface. If the host has no interface of it,
because the PF is bound to vfio-pci for example, the traits are unknown.
"""

from collections.abc import Iterator, Mapping

from compute_agent.virt import finding

from ..host import HostFiles
from . import traits
from .node_devices import NetDevice, NodeDevices, PciDevice

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


def findings(
    child: str, device: PciDevice, devices: NodeDevices, files: HostFiles
) -> Iterator[finding.Finding]:
    """Yield the traits of a device that is a network card, and no others."""
    interfaces = [n for n in devices.net if n.parent == device.name]
    if not (interfaces or device.is_network_card):
        return
    if device.is_pf:
        yield traits.present(child, SRIOV, 'virt_functions', traits.LIBVIRT)
    if not interfaces:
        yield from _unknown(child)
    for one in interfaces[:1]:
        yield from _offloads(child, one)
        yield _queues(child, one, files)


def _unknown(child: str) -> Iterator[finding.Finding]:
    for trait in (SRIOV, MULTIQUEUE, *OFFLOADS.values()):
        yield finding.Finding(
            trait=trait,
            found=finding.Found.UNKNOWN,
            fact='',
            reason='the host has no network interface of the device',
            provider=child,
        )


def _offloads(child: str, one: NetDevice) -> Iterator[finding.Finding]:
    for feature, trait in OFFLOADS.items():
        yield traits.decided(
            child,
            trait,
            f"net feature '{feature}' of {one.interface}",
            traits.LIBVIRT,
            found=None if one.features is None else feature in one.features,
        )


def _queues(child: str, one: NetDevice, files: HostFiles) -> finding.Finding:
    path = f'{_ETHERNET}{one.interface}/queues'
    names = files.names(path)
    several = names is not None and any(
        sum(name.startswith(side) for name in names) > 1
        for side in ('rx-', 'tx-')
    )
    return traits.decided(
        child,
        MULTIQUEUE,
        path,
        traits.KERNEL,
        found=None if names is None else several,
    )
