# SPDX-License-Identifier: Apache-2.0
"""Has a driver describe a node outside of a cycle, on what placement holds."""

import typing
import uuid as uuidlib
from typing import Any

from ...cycle.planning import describe as agent_describe
from ...tree import host_inventory, inventory, names, provider
from ...tree.node import Node
from ...tree.provider_tree import ProviderTree
from ...virt import driver as virt
from ..fixtures import contents
from .outside import callers
from .recorder import Said

if typing.TYPE_CHECKING:
    from . import trial

# The uuid of a node that placement does not have, from its name.
_NAMESPACE = uuidlib.UUID('3f9a1c52-58cf-4c0e-8f2e-0c9a6a6b8d10')


def describe(
    of: 'trial.Trial', driver: virt.ComputeDriver, nodename: str
) -> Said:
    """Return what a driver says of a node on the tree that placement has.

    It is the description of a driver that reports the node alone.

    :raises errors.AgentError: it fails
    """
    tree, node = tree_of(of, driver, nodename)
    agent_describe.describe(driver, tree, node, host_inventory.Reserved())
    return Said.of(tree)


def tree_of(
    of: 'trial.Trial', driver: virt.ComputeDriver, nodename: str
) -> tuple[ProviderTree, Node]:
    """Return the tree of a node as placement has it, and the node."""
    with callers.agent():
        held = of.placement.contents()
    name = driver.get_hypervisor_hostnames().get(nodename) or nodename
    root = next(
        (u for u, one in held.items() if one.name in {name, nodename}), None
    )
    if root is None:
        return ProviderTree(), new_node(driver, nodename)
    providers = provider.snapshot(map(_provider, held.values()))
    near = provider.descendants(providers, root)
    tree = ProviderTree.from_providers(
        p
        for u, p in providers.items()
        if u in near or names.MISC_SHARES_VIA_AGGREGATE in p.traits
    )
    return tree, Node(uuid=root, name=held[root].name)


def new_node(driver: virt.ComputeDriver, nodename: str) -> Node:
    """Return a node that placement does not have."""
    by_name = {n: u for u, n in driver.get_nodenames_by_uuid().items()}
    return Node(uuid=by_name.get(nodename) or _uuid(nodename), name=nodename)


def _provider(held: contents.Claims) -> provider.Provider:
    return provider.Provider(
        uuid=held.uuid,
        name=held.name,
        parent_uuid=held.parent,
        generation=held.generation,
        inventories={
            rc: inventory.Inventory(**fields._asdict())
            for rc, fields in held.inventories.items()
        },
        traits=frozenset(held.traits),
        aggregates=frozenset(held.aggregates),
    )


def unordered(said: Said) -> dict[str, Any]:
    """Return a description without the order of its providers and notes."""
    found = plain(said)
    return {
        key: sorted(value, key=repr) if isinstance(value, list) else value
        for key, value in found.items()
    }


def plain(said: Said) -> dict[str, Any]:
    """Return a description as JSON has it; the order of names is no matter."""
    return {
        'providers': [list(row) for row in said.providers],
        'asserted': {
            f'{uuid} {kind.value}': {
                'names': sorted(one.names),
                'removed': sorted(one.removed),
                'declared': one.declared,
                'exclusive': one.exclusive,
                'keep': one.keep,
            }
            for (uuid, kind), one in sorted(said.asserted.items())
        },
        'inventories': {
            uuid: {rc: dict(record) for rc, record in sorted(records.items())}
            for uuid, records in sorted(said.inventories.items())
        },
        'notes': list(said.notes),
        'faults': list(said.faults),
    }


def _uuid(name: str) -> str:
    if names.is_uuid(name):
        return name.lower()
    return str(uuidlib.uuid5(_NAMESPACE, name))
