# SPDX-License-Identifier: Apache-2.0
"""The nodes that a driver has now, with their uuids and titles.

Every exception of the driver becomes a ``DriverError`` that names the driver.
The resource tracker asks for the list at the start of each cycle.
"""

import dataclasses
import logging
from collections.abc import Callable, Sequence

from .. import errors
from ..tree.node import Node
from ..virt import driver as virt

LOG = logging.getLogger(__name__)


class NodeList:
    """A driver's nodes.

    :param identify: returns the nodes of these names, with their uuids
    """

    def __init__(
        self,
        driver: virt.ComputeDriver,
        identify: Callable[[Sequence[str]], Sequence[Node]],
    ) -> None:
        self._driver = driver
        self._identify = identify
        self._logged = False

    def nodes(self) -> Sequence[Node]:
        """Return the nodes that the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        try:
            found = self._identify(list(self._driver.get_available_nodes()))
            titles = self._driver.get_titles()
            nodes = [
                dataclasses.replace(node, title=titles[node.name])
                if node.name in titles
                else node
                for node in found
            ]
        except errors.AgentError:
            raise
        except Exception as exc:
            raise errors.DriverError(
                f'{type(self._driver).__name__} cannot list its nodes: '
                f'{type(exc).__name__}: {exc}'
            ) from exc
        self._log(nodes)
        return nodes

    def _log(self, nodes: Sequence[Node]) -> None:
        """Log the number of nodes, once: with the first list."""
        if not self._logged:
            self._logged = True
            LOG.info(
                '%s describes %s',
                type(self._driver).__name__,
                f'the node {nodes[0]}'
                if len(nodes) == 1
                else f'{len(nodes)} nodes',
            )
