# SPDX-License-Identifier: Apache-2.0
"""The name of this host's node: ``[DEFAULT] host``, or the hypervisor's name.

In nova.conf, ``host`` is the name of nova's service. nova-compute names the
node by the hypervisor's host name, whatever ``host`` is. If the two differ,
placement decides: a node that it knows by the hypervisor's name has that name.
A node that it does not know gets ``host``. The list of nodes calls this module.
"""

import dataclasses
import logging
from collections.abc import Callable, Sequence

from ..ownership import adoption
from ..tree.node import Node

LOG = logging.getLogger(__name__)

Listed = Callable[[str], Sequence[adoption.ListedProvider]]


class HostName:
    """Settles the name of this host's node, once for each hypervisor's name.

    That name may change: libvirt tells it, and may be away when the agent
    starts.

    :param by_uuid: returns the providers that placement has under a uuid
    :param by_name: returns the providers that placement has under a name
    """

    def __init__(self, by_uuid: Listed, by_name: Listed) -> None:
        self._by_uuid = by_uuid
        self._by_name = by_name
        self._settled: dict[tuple[Node, str], str] = {}

    def of(self, node: Node, hypervisor: str) -> Node:
        """Return the node with the name that placement knows it by.

        :param node: with the name in ``[DEFAULT] host``
        :param hypervisor: the name that nova-compute gives to the node
        :raises errors.AgentError: placement cannot be asked
        """
        if node.name == hypervisor:
            return node
        key = (node, hypervisor)
        name = self._settled.get(key)
        if name is None:
            name = self._settled[key] = self._settle(node, hypervisor)
        return dataclasses.replace(node, name=name)

    def _settle(self, node: Node, hypervisor: str) -> str:
        ours = [provider.name for provider in self._by_uuid(node.uuid)]
        if hypervisor not in ours and (ours or not self._by_name(hypervisor)):
            return node.name
        LOG.warning(
            '[DEFAULT] host is %s, which is the name of a service: the node is '
            '%s, as placement, libvirt and nova-compute name it',
            node.name,
            hypervisor,
        )
        return hypervisor
