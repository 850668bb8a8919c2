# SPDX-License-Identifier: Apache-2.0
"""The tracker of PCI devices."""

import json
from typing import Any

from nova.objects import base


class PciDevTracker:
    """The devices of one compute node."""

    def __init__(self, _context: object, node: Any) -> None:
        self.node = node
        self.known = base.ask('PciDeviceList', 'get_by_compute_node').objects
        self.devices: list[str] = []

    def update_devices_from_hypervisor_resources(self, text: str) -> None:
        """Take the devices that a driver found."""
        self.devices = json.loads(text)

    @property
    def pci_stats(self) -> 'PciDevTracker':
        """The statistics."""
        return self

    def has_remote_managed_device_pools(self) -> bool:
        """Return True if a device is one for remote ports."""
        return 'remote' in self.devices
