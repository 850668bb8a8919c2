# SPDX-License-Identifier: Apache-2.0
"""The devices that providers of other projects stand for.

Pure: no I/O, configuration, logging or clock. One device has one provider. If
cyborg or neutron has one for a device, this driver makes no second one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from compute_agent.tree import names as agent_names
from compute_agent.tree import provider_tree

from . import names
from .node_devices import NodeDevices

Data = provider_tree.ProviderData

_OWNER = 'OWNER_'
# neutron names a provider host:agent type:device.
_NIC_AGENT = re.compile(r'.+:NIC Switch agent:(?P<interface>[^:]+)')


def owners(data: Data) -> list[str]:
    """Return the other projects that claim a provider by their trait."""
    return sorted(
        trait
        for trait in data.traits
        if trait.startswith(_OWNER) and trait != agent_names.OWNER_NOVA
    )


def by_address(
    root: str, providers: Iterable[Data], devices: NodeDevices
) -> dict[str, str]:
    """Return PCI address → the provider of another project that has it."""
    found = {}
    interfaces = _addresses_of_interfaces(devices)
    for data in providers:
        for address in _addresses(root, data, interfaces):
            found[address] = f'the provider {data.name} stands for {address}'
    return found


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
