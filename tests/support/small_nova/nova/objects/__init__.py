# SPDX-License-Identifier: Apache-2.0
"""Some of nova's objects."""

from typing import Any

registered: list[bool] = []


def register_all() -> None:
    """Note that it was asked for."""
    registered.append(True)


class _Object:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


class ServiceList(_Object):
    """Compute services."""


class InstanceList(_Object):
    """Instances."""


class PciDeviceList(_Object):
    """PCI devices."""


class ComputeNode(_Object):
    """A compute node."""
