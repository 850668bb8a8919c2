# SPDX-License-Identifier: Apache-2.0
"""A node by the methods of nova's older interfaces.

A driver without ``update_provider_tree`` has ``get_inventory`` and perhaps
``get_traits``, or only ``get_available_resource``. ``driver.py`` calls it; the
additions of the resource tracker follow as for any other driver.
"""

from collections.abc import Mapping
from typing import Any

from compute_agent.tree import host_inventory, provider_tree

from . import novas_tree, process


class OlderMethods:
    """The older methods of one driver.

    :param driver: nova's driver
    """

    def __init__(self, nova: process.Nova, driver: Any) -> None:
        self._nova = nova
        self._driver = driver

    def describe(
        self, tree: provider_tree.ProviderTree, nodename: str
    ) -> None:
        """Describe the root of the node, without any edit made before.

        :raises NotImplementedError: the driver has none of the methods
        """
        uuid = tree.data(nodename).uuid
        tree.discard_edits()
        if not tree.exists(uuid):
            tree.new_root(nodename, uuid)
        novas_tree.NovaTree(tree).update_inventory(
            nodename, self._inventory(nodename)
        )
        if hasattr(self._driver, 'get_traits'):
            try:
                traits = self._driver.get_traits(nodename)
            except NotImplementedError:
                return
            tree.declare_traits(nodename, *traits)

    def _inventory(self, nodename: str) -> Mapping[str, Any]:
        if hasattr(self._driver, 'get_inventory'):
            try:
                found: Mapping[str, Any] = self._driver.get_inventory(nodename)
            except NotImplementedError:
                pass
            else:
                return found
        with self._nova.conductor.asking_for_resources():
            resources = self._driver.get_available_resource(nodename)
        return host_inventory.records(
            vcpus=resources.get('vcpus', 0),
            memory_mb=resources.get('memory_mb', 0),
            disk_gb=resources.get('local_gb', 0),
            reserved=self._reserved(),
        )

    def _reserved(self) -> host_inventory.Reserved:
        conf = self._nova.conf
        return host_inventory.Reserved(
            cpus=conf.reserved_host_cpus,
            memory_mb=conf.reserved_host_memory_mb,
            disk_mb=conf.reserved_host_disk_mb,
        )
