# SPDX-License-Identifier: Apache-2.0
"""Moves what is allocated of a resource class to where the file has it now.

Pure: it works on a tree that the file has been written to, and on the
allocations it is given. The rule is a simple one: each consumer's amount goes,
as a whole, to the first provider of the node, in the tree's order, that has
room for it. A real driver knows which guest has which device.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from compute_agent import errors
from compute_agent.tree import inventory, provider_tree


def leaves(
    tree: provider_tree.ProviderTree, nodename: str, rc: str
) -> list[str]:
    """Return the providers of a node that had a class and have it no more."""
    here = set(tree.get_provider_uuids(nodename))
    return [
        uuid
        for uuid, one in tree.baseline.items()
        if rc in one.inventories
        and (uuid in here or not tree.exists(uuid))
        and not (uuid in here and rc in tree.data(uuid).inventory)
    ]


def move(
    tree: provider_tree.ProviderTree,
    nodename: str,
    classes: Collection[str],
    allocations: Mapping[str, Any],
) -> None:
    """Edit the allocations until nobody has any of a class where it was.

    :raises DriverError: there is no room for one
    """
    for rc in classes:
        sources = leaves(tree, nodename, rc)
        for consumer, one in sorted(allocations.items()):
            for source in sources:
                amount = _take(one['allocations'], source, rc)
                if amount:
                    uuid = _place(tree, nodename, rc, amount, allocations)
                    if uuid is None:
                        raise errors.DriverError(
                            f'no provider of {nodename} has room for the '
                            f'{amount} {rc} of consumer {consumer}'
                        )
                    _give(one['allocations'], uuid, rc, amount)


def _place(
    tree: provider_tree.ProviderTree,
    nodename: str,
    rc: str,
    amount: int,
    allocations: Mapping[str, Any],
) -> str | None:
    for uuid, record in _offers(tree, nodename, rc):
        used = sum(
            _resources(one['allocations'], uuid).get(rc, 0)
            for one in allocations.values()
        )
        if amount <= record.max_unit and used + amount <= record.capacity:
            return uuid
    return None


def _offers(
    tree: provider_tree.ProviderTree, nodename: str, rc: str
) -> Iterator[tuple[str, inventory.Inventory]]:
    for uuid in tree.get_provider_uuids(nodename):
        records = tree.data(uuid).inventory
        if rc in records:
            yield uuid, inventory.Inventory.from_record(records[rc])


def _resources(parts: Mapping[str, Any], uuid: str) -> dict[str, int]:
    resources: dict[str, int] = parts.get(uuid, {}).get('resources', {})
    return resources


def _take(parts: dict[str, Any], uuid: str, rc: str) -> int:
    """Take a class away from one part; return how much it was."""
    amount = _resources(parts, uuid).pop(rc, 0)
    if uuid in parts and not _resources(parts, uuid):
        del parts[uuid]
    return amount


def _give(parts: dict[str, Any], uuid: str, rc: str, amount: int) -> None:
    resources = parts.setdefault(uuid, {'resources': {}})['resources']
    resources[rc] = resources.get(rc, 0) + amount
