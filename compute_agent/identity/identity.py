# SPDX-License-Identifier: Apache-2.0
"""The uuid of a node: it outlives restarts, renames and new installations.

The driver may tell the uuid. A node whose name is a uuid has that uuid. The
only node of a host has the host's uuid, which is in a file of the host
(``compute_id.py``). ``cmd`` passes the uuids to the resource tracker.

The name of a host's node is ``[DEFAULT] host``, or the hypervisor's. In
nova.conf, ``host`` is the name of nova's service. nova-compute names the node
by the hypervisor's host name, whatever ``host`` is. If the two differ,
placement decides: a node that it knows by the hypervisor's name has that name.
A node that the driver does not know gets the host's uuid. The list of nodes
asks ``HostName``.
"""

import collections
import dataclasses
import logging
import sys
from collections.abc import Callable, Mapping, Sequence

from .. import errors
from ..ownership import adoption
from ..tree import names, provider
from ..tree.node import Node


def identify(
    nodenames: Sequence[str],
    by_uuid: Mapping[str, str],
    host_uuid: Callable[[], str],
) -> list[Node]:
    """Return the nodes of these names with their uuids.

    :param by_uuid: uuid → name, as far as the driver can tell
    :param host_uuid: called only if it is needed
    :raises errors.DriverError: a name or a uuid occurs twice, or a node has
        no uuid
    """
    known = {name: str(uuid) for uuid, name in by_uuid.items()}
    the_host = has_host_uuid(nodenames, by_uuid)
    nodes = []
    for name in nodenames:
        if name in known:
            uuid = sys.intern(known[name].lower())
            if not names.is_uuid(uuid):
                raise errors.DriverError(
                    f'the driver says the uuid of node {name} is {uuid!r}, '
                    'which is none'
                )
        elif names.is_uuid(name):
            uuid = name.lower()
        elif the_host:
            uuid = host_uuid()
        else:
            raise errors.DriverError(
                f'node {name} has no uuid: a driver of several nodes whose '
                'names are no uuids must implement get_nodenames_by_uuid()'
            )
        nodes.append(Node(uuid=uuid, name=name))
    for field in ('name', 'uuid'):
        times = collections.Counter(getattr(node, field) for node in nodes)
        twice = sorted(value for value, n in times.items() if n > 1)
        if twice:
            raise errors.DriverError(
                f'the driver lists the {field} {twice[0]} more than once'
            )
    return nodes


def has_host_uuid(
    nodenames: Sequence[str], by_uuid: Mapping[str, str]
) -> bool:
    """Return True if there is one node and it has the host's uuid."""
    return (
        len(nodenames) == 1
        and nodenames[0] not in by_uuid.values()
        and not names.is_uuid(nodenames[0])
    )


def check(
    node: Node,
    providers: provider.Snapshot,
    agreed: str | None = None,
    file: str = '',
) -> None:
    """Refuse a node whose provider has another name, or a parent.

    If the host was renamed, placement has the name that was agreed last, and
    renaming the provider is right. Otherwise another host may use a copy of
    this host's file. To rename the provider would then stop the other host.

    :param agreed: the name on which placement and the agent agreed last
    :param file: the file that gives this host the uuid; empty if the driver
        gives it
    :raises errors.Refused: placement has the uuid under another name, or
        below another provider
    """
    root = providers.get(node.uuid)
    if root is not None and root.name != node.name:
        if file and agreed != root.name:
            raise errors.Refused(_maybe_cloned(node, root, agreed, file))
        raise errors.Refused(_renamed(node, root))
    if root is not None and root.parent_uuid is not None:
        raise errors.Refused(
            f'{root} is a child of {root.parent_uuid} in placement, and a '
            'compute node is a root: nothing of it is written; move it out '
            'from under its parent (PUT /resource_providers/'
            f'{node.uuid} with "parent_provider_uuid": null, API 1.37)'
        )


def _renamed(node: Node, root: provider.Provider) -> str:
    nova = names.OWNER_NOVA in root.traits
    return (
        f'placement knows provider {node.uuid} as {root.name}, this agent '
        f'calls it {node.name}: nothing of it is written; give the node its '
        f'old name again (for a host: [DEFAULT] host = {root.name})'
        + ', which nova-compute or another agent may use'
        * nova
        + '; if the host has a new name, "compute-agent resource provider rename '
        f'{node.uuid}" renames the provider'
    )


def _maybe_cloned(
    node: Node, root: provider.Provider, agreed: str | None, file: str
) -> str:
    """Return the line about a provider that another host may report."""
    known = (
        'and called it so when they last agreed'
        if agreed == node.name
        else 'and never reported it under that name'
    )
    return (
        f'placement knows provider {node.uuid} as {root.name}, this agent '
        f'calls it {node.name} {known}: nothing of it is written; two hosts '
        f'have the same compute_id if one was copied from the other: delete '
        f'{file} on one of them, and restart its agent; if there is no other '
        f'host, set [DEFAULT] host = {root.name}'
        + ', which nova-compute or another agent may use'
        * (names.OWNER_NOVA in root.traits)
        + ', or give the provider its new name (docs/ownership.md)'
    )


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

    def named(self, node: Node, hypervisor: str) -> Node:
        """Return the node with the name that placement knows it by.

        :param node: the node, with the name in ``[DEFAULT] host``
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
