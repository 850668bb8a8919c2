# SPDX-License-Identifier: Apache-2.0
"""Reports PCI devices as providers."""

import uuid
from typing import Any


def update_provider_tree_for_pci(
    provider_tree: Any,
    nodename: str,
    pci_tracker: Any,
    _allocations: object,
    _resizes: list[str],
) -> bool:
    """Add a provider for each device."""
    for device in pci_tracker.devices:
        name = f'{nodename}_{device}'
        if not provider_tree.exists(name):
            provider_tree.new_child(name, nodename, uuid=str(uuid.uuid4()))
        provider_tree.update_inventory(name, {'CUSTOM_PCI': {'total': 1}})
    return False
