# SPDX-License-Identifier: Apache-2.0
"""Describing one node: the driver's word first, then the agent's own traits.

The fall-back chain is seed 004's: ``update_provider_tree``, else
``get_inventory`` and ``get_traits``, else ``get_available_resource``. Whatever a
driver raises becomes a ``DriverError`` with the driver's name on it, so that one
node's driver fault is that node's alone. It does no I/O of its own.
"""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from .. import errors
from ..ownership.record import Record
from ..tree import assertion, host_inventory, names, provider, provider_tree
from ..tree.node import Node
from ..virt import driver as virt

LOG = logging.getLogger(__name__)


def describe(
    driver: virt.ComputeDriver,
    tree: provider_tree.ProviderTree,
    node: Node,
    reserved: host_inventory.Reserved,
    allocations: Mapping[str, Any] | None = None,
) -> None:
    """Edit the tree until it describes the node.

    Without a root for the node nothing is reported of it for now.

    :param allocations: what is allocated of the tree, for a driver that asked
        for it, to be edited in place
    :raises errors.DriverError: the driver failed, or removed what placement has
    :raises errors.Renamed: another renamed what the driver names
    :raises errors.ReshapeNeeded: it asks for the allocations; the tree is of
        no use any more
    """
    if not tree.exists(node.uuid):
        tree.new_root(node.name, node.uuid)
    with _asking(driver, node):
        if not _updated(driver, tree, node, allocations):
            _fall_back(driver, tree, node, reserved)
    if not tree.exists(node.uuid) and node.uuid in tree.baseline:
        raise errors.DriverError(
            f'{type(driver).__name__} removed the root provider of {node}; '
            'a node that is gone is left out of get_available_nodes()'
        )


def facts(driver: virt.ComputeDriver, node: Node) -> object:
    """Return what the driver's description goes by, None if it can't tell.

    :raises errors.DriverError: the driver failed
    """
    with _asking(driver, node):
        try:
            return driver.facts(node.name)
        except NotImplementedError:
            return None


def equal(
    driver: virt.ComputeDriver, node: Node, one: object, other: object
) -> bool:
    """Whether what two descriptions go by is the same.

    :raises errors.DriverError: its values cannot be compared
    """
    with _asking(driver, node):
        return bool(one == other)


@contextlib.contextmanager
def _asking(driver: virt.ComputeDriver, node: Node) -> Iterator[None]:
    """Make a DriverError of what a driver raises that is not of its contract."""
    try:
        yield
    except (errors.DriverError, errors.ReshapeNeeded, errors.Renamed):
        raise
    except Exception as exc:
        LOG.debug('driver failed for %s', node, exc_info=True)
        raise errors.DriverError(
            f'{type(driver).__name__} failed for {node}: '
            f'{type(exc).__name__}: {exc}'
        ) from exc


def assert_own_traits(
    tree: provider_tree.ProviderTree, node: Node, record: Record
) -> None:
    """Assert what tells schedulers that these providers are compute nodes'.

    COMPUTE_NODE on the root; OWNER_NOVA there and on each provider below that
    this agent created, now or earlier. Others' children stay as they are. One
    that the driver takes out of the node's tree is no part of it any more.
    """
    if not tree.exists(node.uuid):
        return
    below = tree.get_provider_uuids(node.uuid)
    inside = set(below)
    with tree.asserting(assertion.AGENT):
        tree.add_traits(node.uuid, names.COMPUTE_NODE, names.OWNER_NOVA)
        for uuid in below[1:]:
            if uuid not in tree.baseline or uuid in record.created:
                tree.add_traits(uuid, names.OWNER_NOVA)
        for uuid in provider.descendants(tree.baseline, node.uuid):
            if uuid not in inside and tree.exists(uuid):
                tree.visit(uuid, assertion.Kind.TRAIT)


def _updated(
    driver: virt.ComputeDriver,
    tree: provider_tree.ProviderTree,
    node: Node,
    allocations: Mapping[str, Any] | None,
) -> bool:
    """Whether the driver edits trees; if so, it did."""
    given = () if allocations is None else (allocations,)
    try:
        driver.update_provider_tree(tree, node.name, *given)
    except NotImplementedError:
        return False
    except errors.ReshapeNeeded as exc:
        if not given:
            raise
        raise errors.DriverError(
            f'{type(driver).__name__} asks for the allocations of {node}, '
            'which it was given'
        ) from exc
    return True


def _fall_back(
    driver: virt.ComputeDriver,
    tree: provider_tree.ProviderTree,
    node: Node,
    reserved: host_inventory.Reserved,
) -> None:
    """Describe by the older methods, which have only the root to describe."""
    try:
        tree.update_inventory(node.uuid, _inventory(driver, node, reserved))
        traits = _traits(driver, node)
    except errors.ReshapeNeeded as exc:
        raise errors.DriverError(
            f'{type(driver).__name__} asks for the allocations of {node}: '
            'only update_provider_tree can move what is allocated'
        ) from exc
    if traits is not None:  # an empty set is a visit too
        tree.add_traits(node.uuid, *traits)


def _inventory(
    driver: virt.ComputeDriver,
    node: Node,
    reserved: host_inventory.Reserved,
) -> provider_tree.Records:
    try:
        return driver.get_inventory(node.name)
    except NotImplementedError:
        resources = driver.get_available_resource(node.name)
    return host_inventory.records(
        vcpus=resources.get('vcpus', 0),
        memory_mb=resources.get('memory_mb', 0),
        disk_gb=resources.get('local_gb', 0),
        reserved=reserved,
    )


def _traits(driver: virt.ComputeDriver, node: Node) -> frozenset[str] | None:
    """Return the driver's traits, None if it has no say in them."""
    try:
        return names.check_traits(driver.get_traits(node.name))
    except NotImplementedError:
        return None
