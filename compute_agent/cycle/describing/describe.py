# SPDX-License-Identifier: Apache-2.0
"""Have the driver describe one node, and assert the agent's own traits.

A driver describes a node by ``update_provider_tree``, else by
``get_inventory`` and ``get_traits``, else by ``get_available_resource``: the
newest of nova's interfaces comes first. Every exception of a driver becomes a
``DriverError`` that names the driver and fails this node alone. This module
does no I/O of its own. ``driver_turns.py`` calls it.
"""

import logging
import types
from collections.abc import Mapping, Sequence
from typing import Any

from ... import errors
from ...ownership.record import Record
from ...tree import (
    assertion,
    hierarchy,
    host_inventory,
    inventory,
    names,
    provider,
    provider_tree,
)
from ...tree.node import Node
from ...virt import answers, failures, long_calls
from ...virt import driver as virt

LOG = logging.getLogger(__name__)

# The exceptions that the contract names.
_NAMED = (errors.DriverError, errors.ReshapeNeeded, errors.Renamed)


def describe(
    driver: virt.ComputeDriver,
    tree: provider_tree.ProviderTree,
    node: Node,
    reserved: host_inventory.Reserved,
    allocations: Mapping[str, Any] | None = None,
) -> None:
    """Have the driver edit the tree until it describes the node.

    If the driver removes a new node's root, nothing is reported for the node
    for now.

    :param allocations: the tree's allocations, for a driver that asked for
        them to edit in place
    :raises errors.DriverError: the driver failed, or removed a root provider
        that placement has
    :raises errors.Renamed: another writer renamed a provider that the driver
        looks for by name
    :raises errors.ReshapeNeeded: the driver asks for the allocations; the tree
        cannot be used any more
    """
    _ensure_root(tree, node)
    given = () if allocations is None else (allocations,)
    with _Asking(driver, node, 'update_provider_tree'):
        try:
            driver.update_provider_tree(tree, node.name, *given)
        except NotImplementedError as exc:
            # A driver may find only after some edits that it lacks the method.
            if given:
                raise errors.DriverError(
                    f'{type(driver).__name__} asked for the allocations of '
                    f'{node}, and then has no update_provider_tree for it'
                ) from exc
            tree.discard_edits()
            _ensure_root(tree, node)
            try:
                _fall_back(driver, tree, node, reserved)
            except NotImplementedError as none:
                raise errors.DriverError(
                    f'{type(driver).__name__} failed for {node}: none of its '
                    f'methods describes it{_said_of(none)}'
                ) from none
        except errors.ReshapeNeeded as exc:
            if not given:
                raise
            raise errors.DriverError(
                f'{type(driver).__name__} asks for the allocations of {node}, '
                'which it was given'
            ) from exc
    tree.reserve_set_aside()
    if not tree.exists(node.uuid) and node.uuid in tree.baseline:
        raise errors.DriverError(
            f'{type(driver).__name__} removed the root provider of {node}; '
            'a node that is gone is left out of get_available_nodes()'
        )


def _ensure_root(tree: provider_tree.ProviderTree, node: Node) -> None:
    if not tree.exists(node.uuid):
        tree.new_root(node.name, node.uuid)


def facts(driver: virt.ComputeDriver, node: Node) -> object:
    """Return the facts the description depends on; None if the driver can't.

    :raises errors.DriverError: the driver failed
    """
    with _Asking(driver, node, 'facts'):
        try:
            return driver.facts(node.name)
        except NotImplementedError:
            return None


def equal(
    driver: virt.ComputeDriver, node: Node, facts: object, others: object
) -> bool:
    """Return True if two facts of a driver are the same or equal.

    :raises errors.DriverError: the facts cannot be compared
    """
    with _Asking(driver, node, 'facts'):
        return facts is others or bool(facts == others)


def denies(driver: virt.ComputeDriver, node: Node) -> bool:
    """Return True if the driver says that it has no such node any more."""
    try:
        with _Asking(driver, node, 'node_exists'):
            found = driver.node_exists(node.name)
            return (
                answers.existence(type(driver).__name__, found)
                is virt.Existence.NO
            )
    except errors.DriverError:
        return False


def authority(driver: virt.ComputeDriver, node: Node) -> Sequence[str]:
    """Return the traits and prefixes that the driver alone decides now.

    :raises errors.DriverError: the driver failed
    """
    with _Asking(driver, node, 'authority'):
        return driver.authority


class _Asking:
    """The context of a driver's call: another exception is a DriverError.

    It is no generator, because each node has several in each cycle.

    :param call: the method of the driver
    """

    __slots__ = ('_driver', '_node', '_watched')

    def __init__(
        self, driver: virt.ComputeDriver, node: Node, call: str
    ) -> None:
        self._driver = type(driver).__name__
        self._node = node
        self._watched = long_calls.watched(self._driver, call, node.called)

    def __enter__(self) -> None:
        self._watched.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        """Turn exceptions the contract does not name into a DriverError."""
        self._watched.__exit__(kind, exc, trace)
        if exc is None or isinstance(exc, _NAMED):
            return
        if isinstance(exc, failures.caught()):
            LOG.debug('driver failed for %s', self._node, exc_info=exc)
            raise errors.DriverError(
                f'{self._driver} failed for {self._node}: {failures.text(exc)}'
            ) from exc


def assert_own_traits(
    tree: provider_tree.ProviderTree,
    node: Node,
    record: Record,
    mark: str = '',
) -> None:
    """Assert the traits that mark providers as compute nodes and as nova's.

    COMPUTE_NODE and the agent's mark, if it has one, go on the root,
    OWNER_NOVA on the root and on each provider below it that this agent
    created, now or earlier. Children of other writers get no trait. The
    agent's earlier claims on a provider that the driver takes out of the
    node's tree are dropped.
    """
    if not tree.exists(node.uuid):
        return
    below = tree.get_provider_uuids(node.uuid)
    inside = set(below)
    with tree.asserting(assertion.AGENT):
        tree.declare_traits(
            node.uuid,
            names.COMPUTE_NODE,
            names.OWNER_NOVA,
            *filter(None, [mark]),
        )
        for uuid in below[1:]:
            if uuid not in tree.baseline or uuid in record.created:
                tree.declare_traits(uuid, names.OWNER_NOVA)
        for uuid in provider.descendants(tree.baseline, node.uuid):
            if uuid not in inside and tree.exists(uuid):
                tree.declare_traits(uuid)


def _fall_back(
    driver: virt.ComputeDriver,
    tree: provider_tree.ProviderTree,
    node: Node,
    reserved: host_inventory.Reserved,
) -> None:
    """Describe the root by the older methods, which describe only a root."""
    try:
        tree.update_inventory(node.uuid, _inventory(driver, node, reserved))
        traits = _traits(driver, node)
    except errors.ReshapeNeeded as exc:
        raise errors.DriverError(
            f'{type(driver).__name__} asks for the allocations of {node}: '
            'only update_provider_tree can move what is allocated'
        ) from exc
    if traits is not None:
        tree.declare_traits(node.uuid, *traits)


def _said_of(exc: BaseException | None) -> str:
    """Return the texts of a NotImplementedError and of the errors behind it.

    A method that exists may raise one by a mistake, or deep inside.
    """
    said: list[str] = []
    while isinstance(exc, NotImplementedError):
        said += [str(exc)] if str(exc) else []
        exc = exc.__context__
    reasons = '; '.join(f'NotImplementedError: {text}' for text in said[::-1])
    return f' ({reasons})' if reasons else ''


def _inventory(
    driver: virt.ComputeDriver,
    node: Node,
    reserved: host_inventory.Reserved,
) -> hierarchy.Given:
    try:
        return driver.get_inventory(node.name)
    except NotImplementedError:
        resources = answers.available_resource(
            type(driver).__name__, driver.get_available_resource(node.name)
        )
    records = host_inventory.records(
        vcpus=resources.get('vcpus', 0),
        memory_mb=resources.get('memory_mb', 0),
        disk_gb=resources.get('local_gb', 0),
        reserved=reserved,
    )
    return inventory.as_given(records)


def _traits(driver: virt.ComputeDriver, node: Node) -> frozenset[str] | None:
    """Return the driver's traits, None if it has no such method."""
    try:
        given = driver.get_traits(node.name)
        return answers.trait_names(type(driver).__name__, given)
    except NotImplementedError:
        return None
