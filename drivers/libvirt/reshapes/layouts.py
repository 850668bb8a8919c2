# SPDX-License-Identifier: Apache-2.0
"""The change between a host with all processors and memory, and NUMA nodes.

Pure: no I/O, configuration, logging or clock. The layout changes when no guest
has allocations of the old one. While placement has both, what could be offered
twice is reserved. ``reading/reshapes.py`` calls this.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from compute_agent.tree import provider_tree

from ..devices.child import Child, Children, Kind
from ..inventory import amounts, numa


def leaving(
    root: provider_tree.ProviderData,
    nodes: Collection[str],
    children: Children,
) -> frozenset[str]:
    """Return the providers that lose these classes to another layout.

    :param root: the host's own provider as placement has it
    :param nodes: the uuids of NUMA nodes with inventory in placement
    :param children: the children that the host should have
    """
    if any(child.kind is Kind.NUMA for child in children.known):
        has_some = not root.inventory.keys().isdisjoint(numa.CLASSES)
        return frozenset({root.uuid} if has_some else ())
    return frozenset(() if Kind.NUMA in children.unknown_kinds else nodes)


def in_use(allocations: Mapping[str, Any], providers: Collection[str]) -> bool:
    """Return True if a consumer has some of these classes of a provider."""
    return any(
        rc in numa.CLASSES
        for one in allocations.values()
        for uuid, part in one['allocations'].items()
        if uuid in providers
        for rc in part['resources']
    )


def are_both(root: provider_tree.ProviderData, nodes: Collection[str]) -> bool:
    """Return True if placement has these classes of the host and of nodes.

    The driver never reports both, so another service reports the host's.
    """
    return bool(nodes) and not root.inventory.keys().isdisjoint(numa.CLASSES)


def reserved_nodes(nodes: Iterable[str]) -> Children:
    """Return NUMA nodes with the amounts of placement, all of them reserved.

    :param nodes: their names
    """
    return Children(
        known=tuple(
            Child(
                name=name,
                kind=Kind.NUMA,
                inventory=None,
                findings=numa.findings(name, 'its provider'),
                reserved=True,
            )
            for name in nodes
        )
    )


def reserved_root(
    found: amounts.Amounts, current: amounts.Records
) -> amounts.Amounts:
    """Return the amounts of a host; these classes stay, all of them reserved.

    :param current: the host's inventory in placement
    """
    reserved = {
        rc: {**record, 'reserved': record['total']}
        for rc, record in current.items()
        if rc in numa.CLASSES
    }
    return dataclasses.replace(
        found,
        known={**found.known, **reserved},
        unknown=found.unknown.difference(numa.CLASSES),
    )


_CLASSES = f'{", ".join(numa.CLASSES[:-1])} or {numa.CLASSES[-1]}'

#: The fault while both layouts are in placement.
BOTH = amounts.Amounts.unread(
    f'placement has {_CLASSES} of this host and of its NUMA '
    "nodes, because another service reports the host's; what could be "
    'offered twice is reserved: stop nova-compute on this host, or set '
    '[libvirt] numa = flat and move the guests of the nodes to another host'
)

#: The amounts while guests still have allocations of the other layout.
WAITS = amounts.Amounts.unread(
    '[libvirt] numa is not followed yet, because guests have allocations of '
    f'{_CLASSES}: move them to another host, or set the option '
    'back',
    *numa.CLASSES,
)
