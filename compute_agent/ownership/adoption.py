# SPDX-License-Identifier: Apache-2.0
"""Adoption: count another writer's provider as created by this agent.

Pure: no I/O, configuration, logging or clock. ``resource provider adopt`` asks for an
``Adoption``, shows it, and writes it to the record.

A driver finds a node by its name, and a child by the name that its uuid was
derived from. A rename that the driver does not share would be undone by the
next cycle, or would stop it. ``resource provider rename`` asks for the new name.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from .. import errors
from ..tree import node as node_module
from ..tree import provider, provider_tree
from ..tree.node import Node


class ListedProvider(Protocol):
    """A provider as placement lists it."""

    @property
    def uuid(self) -> str:
        """The uuid."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def generation(self) -> int:
        """The generation."""

    @property
    def parent_uuid(self) -> str | None:
        """The parent's uuid; None for a root."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The facts in the state database that decide an adoption.

    :ivar nodes: the nodes that any driver of this agent has reported
    :ivar created: the uuids of the providers that this agent created
    :ivar readings: the last reading of each provider that was read before
    """

    nodes: Sequence[Node]
    created: Collection[str]
    readings: Mapping[str, provider.Reading]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The providers that will count as created by this agent.

    :ivar new: the providers that do not count yet; empty if all of them do
    :ivar recreated: the uuids of providers in ``new`` that another writer
        deleted and created again; the record of the old provider is dropped
    :ivar descendants: the providers below, which are not adopted
    """

    node: Node
    new: Sequence[ListedProvider]
    recreated: frozenset[str]
    descendants: Sequence[ListedProvider]


def adoption(
    adopted: ListedProvider,
    tree: Sequence[ListedProvider],
    nodes: Sequence[Node],
    known: Known,
    *,
    wanted_node: str | None,
    subtree: bool,
) -> Adoption:
    """Return the adoption of a provider, for the record.

    :param tree: all providers of the provider's tree
    :param nodes: the nodes of the agent's driver
    :param wanted_node: the node for a provider that is alone in its tree
    :param subtree: adopt all its descendants too
    :raises errors.Refused: the provider is in the tree of another agent's node
    :raises errors.ConfigError: the provider is alone in its tree, and the node
        is ambiguous
    """
    node = _node(adopted, tree, nodes, known, wanted_node)
    family = _with_descendants(adopted, tree)
    chosen = family if subtree else family[:1]
    recreated = _recreated(chosen, known)
    created = frozenset(known.created) - recreated
    return Adoption(
        node=node,
        new=[row for row in chosen if row.uuid not in created],
        recreated=recreated,
        descendants=family[len(chosen) :],
    )


def title(listed: ListedProvider) -> str:
    """Return a provider's name and uuid, for a message."""
    return provider.title(listed.name, listed.uuid)


def _node(
    adopted: ListedProvider,
    tree: Sequence[ListedProvider],
    nodes: Sequence[Node],
    known: Known,
    wanted: str | None,
) -> Node:
    """Return the node that the provider belongs to."""
    by_uuid = {node.uuid: node for node in (*known.nodes, *nodes)}
    for row in tree:
        if row.uuid in by_uuid:
            return by_uuid[row.uuid]
    if len(tree) > 1:
        roots = ', '.join(title(row) for row in tree if not row.parent_uuid)
        raise errors.Refused(
            f'{title(adopted)} is in the tree of {roots}, which is not a node '
            'of this agent: adopt the provider on the host of the agent that '
            'reports that tree'
        )
    found = node_module.chosen(nodes, wanted)
    if len(found) != 1:
        raise errors.ConfigError(
            f'{title(adopted)} is alone in its tree, so it may belong to any '
            f'of the {len(found)} nodes of this agent: name one with --node'
        )
    return found[0]


def _with_descendants(
    adopted: ListedProvider, tree: Sequence[ListedProvider]
) -> list[ListedProvider]:
    """Return a provider and its descendants, parents first."""
    found = [adopted]
    for parent in found:
        found += [row for row in tree if row.parent_uuid == parent.uuid]
    return found


def _recreated(rows: Sequence[ListedProvider], known: Known) -> frozenset[str]:
    """Return the uuids whose record describes an earlier, deleted provider."""
    readings = known.readings
    return frozenset(
        row.uuid
        for row in rows
        if row.uuid in readings and readings[row.uuid].is_above(row.generation)
    )


def new_name(
    provider: ListedProvider,
    nodes: Sequence[Node],
    wanted: str | None,
) -> str:
    """Return the new name of a provider; a node's is the driver's name.

    :raises errors.ConfigError: no name is given, or the driver has another
    """
    node = next((n for n in nodes if n.uuid == provider.uuid), None)
    if node is None and wanted is None:
        raise errors.ConfigError(
            f'{title(provider)} is not a node of this agent, so its '
            'new name must be given: add NEW_NAME'
        )
    if node is None or wanted == node.name:
        return str(wanted)
    if wanted is not None:
        raise errors.ConfigError(
            f'the driver calls this node {node.name}, so the agent would not '
            f'write it as {wanted}: rename the node in the driver first (for '
            'a host: [DEFAULT] host)'
        )
    return node.name


def check_created(
    provider: ListedProvider, name: str, created: Collection[str]
) -> None:
    """Refuse to rename a child whose uuid the agent derived from its name.

    :param created: the uuids of the providers that this agent created
    :raises errors.ConfigError: the driver would no longer find the provider
    """
    if (
        provider.uuid in created
        and name != provider.name
        and is_derived(provider, provider.name)
    ):
        raise errors.ConfigError(
            f'the driver calls this provider {provider.name}, and would not '
            f'find it as {name}: rename it in the driver, and the agent '
            'creates it under the new name'
        )


def is_derived(provider: ListedProvider, name: str) -> bool:
    """Return True if the provider's uuid is derived from parent and name."""
    parent = provider.parent_uuid
    derived = parent and provider_tree.derived_uuid(parent, name)
    return derived == provider.uuid
