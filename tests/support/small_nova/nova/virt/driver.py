# SPDX-License-Identifier: Apache-2.0
"""The interface of drivers."""

from collections.abc import Mapping
from typing import Any

from nova.virt import node


class ComputeDriver:
    """What every driver has."""

    capabilities: Mapping[str, bool] = {}

    def __init__(self, virtapi: object) -> None:
        self.virtapi = virtapi

    def init_host(self, host: str) -> None:
        """Begin."""

    def cleanup_host(self, host: str) -> None:
        """End."""

    def get_available_nodes(self, *, refresh: bool = False) -> list[str]:
        """Return the nodes."""
        raise NotImplementedError

    def get_nodenames_by_uuid(
        self, *, refresh: bool = False
    ) -> dict[str, str]:
        """Return uuid → node."""
        (name,) = self.get_available_nodes(refresh=refresh)
        return {node.get_local_node_uuid(): name}

    def is_node_deleted(self, _nodename: str) -> bool:
        """Return True if the node was deleted."""
        return False

    def capabilities_as_traits(self) -> dict[str, bool]:
        """Return trait → True if the driver has it."""
        return dict(self.capabilities)

    def update_provider_tree(
        self, provider_tree: Any, nodename: str, allocations: Any = None
    ) -> None:
        """Describe a node."""
        raise NotImplementedError

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        """Return the resources of a node."""
        raise NotImplementedError
