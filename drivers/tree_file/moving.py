# SPDX-License-Identifier: Apache-2.0
"""Moves allocations of a resource class to the class's new providers.

Pure: it works on a tree that already matches the file, and on the given
allocations. Each consumer's amount goes as a whole to the node's first
provider, in the tree's order, that has room for it. A real driver would know
which guest has which device.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from compute_agent import errors
from compute_agent.tree import inventory, provider_tree


def leaves(
    tree: provider_tree.ProviderTree, nodename: str, rc: str
) -> list[str]:
    """Return the node's providers that lost this resource class."""
    here = set(tree.get_provider_uuids(nodename))
    return [
        uuid
        for uuid, seen in tree.baseline.items()
        if rc in seen.inventories
        and (uuid in here or not tree.exists(uuid))
        and not (uuid in here and rc in tree.data(uuid).inventory)
    ]


def move(
    tree: provider_tree.ProviderTree,
    nodename: str,
    classes: Collection[str],
    allocations: Mapping[str, Any],
) -> None:
    """Move all allocations of these classes to the new providers.

    :raises errors.DriverError: no provider has room for an amount
    """
    for rc in classes:
        sources = leaves(tree, nodename, rc)
        for consumer, allocated in sorted(allocations.items()):
            for source in sources:
                amount = _take(allocated['allocations'], source, rc)
                if amount:
                    uuid = _place(tree, nodename, rc, amount, allocations)
                    if uuid is None:
                        raise errors.DriverError(
                            f'no provider of {nodename} has room for the '
                            f'{amount} {rc} of consumer {consumer}'
                        )
                    _give(allocated['allocations'], uuid, rc, amount)


def _place(
    tree: provider_tree.ProviderTree,
    nodename: str,
    rc: str,
    amount: int,
    allocations: Mapping[str, Any],
) -> str | None:
    for uuid, record in _offers(tree, nodename, rc):
        used = sum(
            _resources(allocated['allocations'], uuid).get(rc, 0)
            for allocated in allocations.values()
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
    """Remove a class from one allocation; return its amount."""
    amount = _resources(parts, uuid).pop(rc, 0)
    if uuid in parts and not _resources(parts, uuid):
        del parts[uuid]
    return amount


def _give(parts: dict[str, Any], uuid: str, rc: str, amount: int) -> None:
    resources = parts.setdefault(uuid, {'resources': {}})['resources']
    resources[rc] = resources.get(rc, 0) + amount
