# SPDX-License-Identifier: Apache-2.0
"""The claims of drivers that did not describe a node in this cycle.

Pure: no I/O, configuration, logging or clock. If a driver failed, or cannot
tell if it still has the node, its claims stay. If it does not have the node any
more, or does not exist any more, its claims end, and the providers that only it
described are deleted. The planner calls this after the turns of the drivers
that described the node.

Two drivers of one node may also contradict each other. They must not both give
the complete list of a provider's names, nor different records of one resource
class. It is unknown which of them is right, so the agent writes neither: what
placement has stays, and the node does not count as done.
"""

from collections.abc import Collection, Iterable, Mapping

from ..tree import assertion, provider, provider_tree
from ..tree.assertion import Key, Kind
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
    """End the claims of these drivers; remove providers that no other has.

    :param only: the providers on which the claims end, without the removal of
        a provider; on other providers, the claims stay. None for all
        providers.
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
    """Return another driver's provider that this one removed, and that driver.

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


# The record of a resource class, by its provider and its name.
_Records = dict[tuple[str, str], Mapping[str, float]]

_LISTS = (
    '{}: {} each give the complete list of its {}, and the lists differ: '
    'neither is written; change one of the drivers to declare its names, or '
    'remove it from [DEFAULT] compute_driver'
)
_AMOUNTS = (
    '{}: {} report different inventories of {}: neither is written; change '
    'the options of one of the drivers so that it leaves the class out, or '
    'remove it from [DEFAULT] compute_driver'
)


class Amounts:
    """The inventories that each driver reported in its turn."""

    def __init__(self) -> None:
        self._by_source: dict[str, _Records] = {}

    def note(self, tree: provider_tree.ProviderTree, source: str) -> None:
        """Remember the inventories that a driver just reported."""
        records = self._by_source[source] = _Records()
        for (uuid, kind), by_source in tree.assertions.items():
            if kind is Kind.INVENTORY and source in by_source:
                reported = tree.data(uuid).inventory
                for rc in by_source[source].names:
                    records[uuid, rc] = reported[rc]

    def settle(self, tree: provider_tree.ProviderTree) -> None:
        """Drop assertions that drivers dispute, and add faults about them."""
        if len(self._by_source) < 2:
            return
        for key, by_source in list(tree.assertions.items()):
            rivals = _rival_lists(by_source)
            if rivals:
                for source in rivals:
                    with tree.asserting(source):
                        tree.keep_only(*key)
                tree.fault(
                    _LISTS.format(
                        _title(tree, key[0]), _titles(rivals), _PLURAL[key[1]]
                    )
                )
            elif key[1] is Kind.INVENTORY:
                self._settle_amounts(tree, key, by_source)

    def _settle_amounts(
        self,
        tree: provider_tree.ProviderTree,
        key: Key,
        by_source: Mapping[str, assertion.Assertion],
    ) -> None:
        classes: dict[str, list[str]] = {}
        for source, asserted in by_source.items():
            for rc in asserted.names if source in self._by_source else ():
                classes.setdefault(rc, []).append(source)
        for rc, sources in sorted(classes.items()):
            records = [self._by_source[s][key[0], rc] for s in sources]
            if all(record == records[0] for record in records):
                continue
            for source in sources:
                with tree.asserting(source):
                    tree.dispute(*key, frozenset({rc}))
            title = _title(tree, key[0])
            tree.fault(_AMOUNTS.format(title, _titles(sources), rc))


def _rival_lists(
    by_source: Mapping[str, assertion.Assertion],
) -> list[str]:
    """Return the drivers whose complete lists differ; empty if none do."""
    lists = {
        source: asserted.names
        for source, asserted in by_source.items()
        if asserted.exclusive
        and not asserted.keep
        and assertion.is_driver(source)
    }
    return [*lists] if len(set(lists.values())) > 1 else []


def _title(tree: provider_tree.ProviderTree, uuid: str) -> str:
    return provider.title(tree.data(uuid).name, uuid)


def _titles(sources: Iterable[str]) -> str:
    return ' and '.join(map(assertion.title, sources))


_PLURAL = {
    Kind.TRAIT: 'traits',
    Kind.AGGREGATE: 'aggregates',
    Kind.INVENTORY: 'resource classes',
}
