# SPDX-License-Identifier: Apache-2.0
"""Names about which two drivers of one node contradict each other.

Pure: no I/O, configuration, logging or clock. Two drivers must not both give
the complete list of a provider's names, nor different records of one resource
class. It is unknown which of them is right, so the agent writes neither: what
placement has stays, and the node does not count as done. The planner calls this
after the turns of all drivers.
"""

from collections.abc import Iterable, Mapping

from ..tree import assertion, provider, provider_tree
from ..tree.assertion import Key, Kind

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
        """Take back what drivers dispute, and add faults about it."""
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
    """Return the drivers whose complete lists differ; empty for one alone."""
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
