# SPDX-License-Identifier: Apache-2.0
"""The additions of nova's resource tracker to the tree of a driver.

In nova-compute, the resource tracker adds the driver's capabilities as traits
of the root, and the PCI devices of ``[pci] device_spec`` as children. Nova's
own code makes both here. The agent itself adds COMPUTE_NODE, OWNER_NOVA and
the operator's provider-config files; COMPUTE_STATUS_DISABLED stays
nova-compute's. ``driver.py`` calls it after the driver has described a node.
"""

import importlib
from collections.abc import Mapping
from typing import Any

from compute_agent import errors
from compute_agent.tree import provider_tree

from . import novas_tree, process

_REMOTE_PORTS = 'COMPUTE_REMOTE_MANAGED_PORTS'
_DEVICES = 'pci_passthrough_devices'


class ResourceTracker:
    """The additions of nova's resource tracker to one driver's report.

    :param driver: nova's driver
    """

    def __init__(self, nova: process.Nova, driver: Any) -> None:
        self._nova = nova
        self._driver = driver

    def add(
        self,
        tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, Any] | None,
    ) -> None:
        """Add capabilities and PCI devices to a described node."""
        devices = self._devices(nodename)
        remote = devices.pci_stats.has_remote_managed_device_pools()
        traits = self.capabilities(has_remote_ports=remote)
        tree.add_traits(nodename, *(t for t, has in traits.items() if has))
        tree.remove_traits(
            nodename, *(t for t, has in traits.items() if not has)
        )
        self._add_devices(tree, nodename, devices, allocations)

    def capabilities(self, *, has_remote_ports: bool) -> dict[str, bool]:
        """Return each trait of a capability, and if the driver has it."""
        traits = {
            str(trait): bool(has)
            for trait, has in self._driver.capabilities_as_traits().items()
        }
        if _REMOTE_PORTS in traits:
            traits[_REMOTE_PORTS] &= has_remote_ports
        return traits

    def _devices(self, nodename: str) -> Any:
        """Return nova's tracker of the node's PCI devices, all of them free."""
        objects = importlib.import_module('nova.objects')
        context = importlib.import_module('nova.context')
        manager = importlib.import_module('nova.pci.manager')
        found: Mapping[str, Any] = {}
        if self._nova.conf.pci.device_spec:
            found = self._resources(nodename)
        node = objects.ComputeNode(
            id=0, numa_topology=found.get('numa_topology')
        )
        tracker = manager.PciDevTracker(context.get_admin_context(), node)
        if _DEVICES in found:
            tracker.update_devices_from_hypervisor_resources(found[_DEVICES])
        return tracker

    def _resources(self, nodename: str) -> Mapping[str, Any]:
        """Return the node's resources in nova's oldest form.

        :raises errors.DriverError: the driver does not return the devices that
            nova.conf asks to report; without them, the agent would remove
            those in placement
        """
        with self._nova.conductor.asking_for_resources():
            found: Mapping[str, Any] = self._driver.get_available_resource(
                nodename
            )
        if _DEVICES not in found and self._nova.conf.pci.report_in_placement:
            raise errors.DriverError(
                f'{type(self._driver).__name__} does not tell the PCI devices '
                f'of {nodename}, and [pci] report_in_placement and device_spec '
                'ask to report them: unset device_spec for this driver, or '
                f'have get_available_resource return {_DEVICES}'
            )
        return found

    def _add_devices(
        self,
        tree: provider_tree.ProviderTree,
        nodename: str,
        devices: Any,
        allocations: Mapping[str, Any] | None,
    ) -> None:
        """Report the devices, if ``[pci] report_in_placement`` says so."""
        translator = importlib.import_module(
            'nova.compute.pci_placement_translator'
        )
        translator.update_provider_tree_for_pci(
            novas_tree.PciTree(tree),
            nodename,
            devices,
            {} if allocations is None else allocations,
            [],
        )
