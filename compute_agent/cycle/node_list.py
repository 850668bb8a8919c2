# SPDX-License-Identifier: Apache-2.0
"""The nodes that a driver has now, with their uuids and titles.

Every exception of the driver becomes a ``DriverError`` that names the driver.
The resource tracker asks for the list at the start of each cycle.
"""

import dataclasses
from collections.abc import Callable, Sequence

from .. import errors
from ..tree.node import Node
from ..virt import driver as virt


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

    def nodes(self) -> Sequence[Node]:
        """Return the nodes that the driver has now.

        :raises errors.DriverError: it cannot tell
        """
        try:
            found = self._identify(list(self._driver.get_available_nodes()))
            titles = self._driver.get_titles()
            return [
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
