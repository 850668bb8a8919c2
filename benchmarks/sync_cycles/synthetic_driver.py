# SPDX-License-Identifier: Apache-2.0
"""A driver of any number of synthetic nodes; it parses a listing each cycle.

The loader finds it by an entry point, like any driver. ``agents.py`` writes
that entry point beside the configuration.
"""

import typing
from collections.abc import Mapping, Sequence

from oslo_config import cfg

from compute_agent.tree import provider_tree
from compute_agent.virt import driver

from . import cloud


class SyntheticDriver(driver.ComputeDriver):
    """Describes the nodes in ``source``, which ``ours.py`` sets.

    :ivar source: the listing, as text
    """

    def __init__(self) -> None:
        self.source = '[]'
        self._nodes: dict[str, cloud.Provider] = {}

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> typing.Self:  # noqa: ARG003
        """Return the driver; it has no options."""
        return cls()

    def get_available_nodes(self) -> Sequence[str]:
        """Parse the listing; return the names in it."""
        self._nodes = {n['name']: n for n in cloud.parse(self.source)}
        return list(self._nodes)

    def get_nodenames_by_uuid(self) -> Mapping[str, str]:
        """Return uuid → name of every node."""
        return {node['uuid']: name for name, node in self._nodes.items()}

    def facts(self, nodename: str) -> object:
        """Return the node in the listing."""
        return self._nodes[nodename]

    def update_provider_tree(
        self,
        provider_tree: provider_tree.ProviderTree,
        nodename: str,
        allocations: Mapping[str, typing.Any] | None = None,  # noqa: ARG002
    ) -> None:
        """Make the tree match the listing."""
        node = self._nodes[nodename]
        _describe(provider_tree, node)
        provider_tree.update_aggregates(nodename, node['aggregates'])
        for child in node['children']:
            if not provider_tree.exists(child['name']):
                provider_tree.new_child(
                    child['name'], nodename, uuid=child['uuid']
                )
            _describe(provider_tree, child)


def _describe(tree: provider_tree.ProviderTree, one: cloud.Provider) -> None:
    tree.update_inventory(one['name'], one['inventory'])
    tree.update_traits(one['name'], one['traits'])
