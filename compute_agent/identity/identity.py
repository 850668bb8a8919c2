# SPDX-License-Identifier: Apache-2.0
"""The uuid of a node: it outlives restarts, renames and new installations.

The driver may tell the uuid. A node whose name is a uuid has that uuid. The
only node of a host has the host's uuid, which is in a file of the host
(``compute_id.py``). ``cmd`` passes the uuids to the resource tracker.
"""

import collections
from collections.abc import Callable, Mapping, Sequence

from .. import errors
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
            uuid = known[name].lower()
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
        + ', which nova-compute may use'
        * nova
        + '; if the host has a new name, "compute-agent provider rename '
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
        + ', which nova-compute may use' * (names.OWNER_NOVA in root.traits)
        + ', or give the provider its new name (docs/ownership.md)'
    )
