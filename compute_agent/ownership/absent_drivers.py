# SPDX-License-Identifier: Apache-2.0
"""The claims of drivers that did not describe a node in this cycle.

Pure: no I/O, configuration, logging or clock. If a driver failed, or cannot
tell if it still has the node, its claims stay. If it does not have the node any
more, or does not exist any more, its claims end, and the providers that only it
described are deleted. The planner calls this after the turns of the drivers
that described the node.
"""

from collections.abc import Collection

from ..tree import assertion, provider, provider_tree
from ..tree.assertion import Kind
from .record import Record


def claimants(record: Record) -> frozenset[str]:
    """Return the drivers that claim a name for the node in question."""
    return frozenset(
        source
        for by_source in record.claims.values()
        for source, names in by_source.items()
        if names and assertion.is_driver(source)
    )


def reported_by(record: Record, uuid: str) -> frozenset[str]:
    """Return the drivers that claim a name of this provider for the node."""
    return frozenset(
        source
        for kind in Kind
        for source, names in record.claims.get((uuid, kind), {}).items()
        if names and assertion.is_driver(source)
    )


def keep(
    tree: provider_tree.ProviderTree, record: Record, sources: Collection[str]
) -> None:
    """Keep the claims of these drivers: they cannot tell in this cycle."""
    for (uuid, kind), by_source in record.claims.items():
        for source in by_source.keys() & sources:
            if by_source[source] and tree.exists(uuid):
                with tree.asserting(source):
                    tree.keep_only(uuid, kind)


def release(
    tree: provider_tree.ProviderTree,
    record: Record,
    node_uuid: str,
    sources: Collection[str],
    only: Collection[str] | None = None,
) -> None:
    """End the claims of these drivers; remove the providers of them alone.

    :param only: the providers on which the claims end, and none is removed;
        on the others they stay. None for all providers.
    """
    for (uuid, kind), by_source in record.claims.items():
        for source in by_source.keys() & sources:
            if not by_source[source] or not tree.exists(uuid):
                continue
            with tree.asserting(source):
                if only is None or uuid in only:
                    tree.release(uuid, kind)
                else:
                    tree.keep_only(uuid, kind)
    if only is not None:
        return
    for uuid in tree.get_provider_uuids():
        if uuid == node_uuid or not tree.exists(uuid):
            continue
        below = tree.get_provider_uuids(uuid)
        if all(_is_of_these(tree, record, u, sources) for u in below):
            (source, *_) = sorted(_sources(record, uuid) & {*sources})
            with tree.asserting(source):
                tree.remove(uuid)


def _is_of_these(
    tree: provider_tree.ProviderTree,
    record: Record,
    uuid: str,
    sources: Collection[str],
) -> bool:
    """Return True if this agent created the provider for these drivers only."""
    described = {
        source
        for kind in Kind
        for source in tree.assertions.get((uuid, kind), {})
        if assertion.is_driver(source)
    }
    return (
        uuid in record.created
        and uuid in tree.baseline
        and bool(_sources(record, uuid) & {*sources})
        and (described | reported_by(record, uuid)) <= {*sources}
        and not any(record.claimed_for_other_nodes((uuid, k)) for k in Kind)
    )


def _sources(record: Record, uuid: str) -> frozenset[str]:
    """Return the drivers that ever claimed a name of this provider."""
    return frozenset(
        source
        for kind in Kind
        for source in record.claims.get((uuid, kind), {})
    )


def removed_of_others(
    before: provider_tree.ProviderTree,
    after: provider_tree.ProviderTree,
    source: str,
    recorded: Record,
    drivers: Collection[str],
) -> tuple[str, str] | None:
    """Return a provider of another driver that this one removed, and whose.

    :param before: the tree before the driver's turn
    :param drivers: the agent's drivers
    """
    for uuid in before.get_provider_uuids():
        others = {
            other
            for kind in Kind
            for other in before.assertions.get((uuid, kind), {})
            if other != source
        }
        if after.exists(uuid):
            others = {
                other
                for other in others
                for kind in Kind
                if other in before.assertions.get((uuid, kind), {})
                and other not in after.assertions.get((uuid, kind), {})
            }
        else:
            others |= reported_by(recorded, uuid) & {*drivers} - {source}
        if others:
            title = provider.title(before.data(uuid).name, uuid)
            return title, assertion.title(min(others))
    return None
