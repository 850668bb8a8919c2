# SPDX-License-Identifier: Apache-2.0
"""nova-compute's tree: one for all nodes, as its report client has it.

It runs in nova's environment. A node's copy is nova 34's ``subtree()``. The
step ``diff`` does what ``update_from_provider_tree`` of the report client does
before it sends a request. All calls name providers by uuid, for nova finds
them by name more slowly.
"""

import os
from collections.abc import Sequence
from typing import Any

os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = '1'  # before nova is there

from nova.compute import (  # type: ignore[import-not-found]
    provider_tree,
)

from . import work


class New:
    """A tree that drivers fill by their calls; placement has nothing."""

    def __init__(self) -> None:
        self._tree = provider_tree.ProviderTree()
        self._cache = provider_tree.ProviderTree()

    def build(self, nodes: Sequence[work.Node]) -> None:
        """Make the providers as a driver does."""
        for one in (one for node in nodes for one in node):
            _add(self._tree, one.name, one.uuid, one.parent_uuid)
            self._fill(one)
        self._roots = [node[0].uuid for node in nodes]

    def copy(self) -> None:
        """Copy the tree of each node."""
        self._copies = [self._tree.subtree(root) for root in self._roots]

    def edit(self, nodes: Sequence[work.Node]) -> None:
        """Change one provider in ten."""
        for tree, node in zip(self._copies, nodes, strict=True):
            for one in node:
                if one.is_edited:
                    tree.update_inventory(one.uuid, work.EDITED_INVENTORY)
                    tree.update_traits(one.uuid, work.EDITED_TRAITS)

    def diff(self) -> int:
        """Compare each node with the cache."""
        return sum(map(self._changed, self._copies))

    def _fill(self, one: work.Provider) -> None:
        self._tree.update_inventory(one.uuid, one.inventory)
        self._tree.update_traits(one.uuid, work.TRAITS)

    def _changed(self, tree: Any) -> int:
        """Return the number of a node's providers that the cache lacks."""
        cache, uuids = self._cache, tree.get_provider_uuids()
        for uuid in uuids:
            if not cache.exists(uuid):
                new = tree.data(uuid)
                _add(cache, new.name, uuid, new.parent_uuid)
                generation = cache.data(uuid).generation
                tree.update_inventory(uuid, new.inventory, generation)
        return sum(
            _differs(cache, tree.data(uuid)) for uuid in reversed(uuids)
        )


class Known(New):
    """A tree of what placement has, which is the cache at the same time."""

    def build(self, nodes: Sequence[work.Node]) -> None:
        """Make the providers as the report client does from answers."""
        self._cache = self._tree
        for node in nodes:
            self._tree.populate_from_iterable([_row(one) for one in node])
            for one in node:
                self._fill(one)
        self._roots = [node[0].uuid for node in nodes]


def _add(tree: Any, name: str, uuid: str, parent: str | None) -> None:
    if parent is None:
        tree.new_root(name, uuid, generation=0)
    else:
        tree.new_child(name, parent, uuid=uuid, generation=0)


def _row(one: work.Provider) -> dict[str, Any]:
    return {
        'uuid': one.uuid,
        'name': one.name,
        'generation': 1,
        'parent_provider_uuid': one.parent_uuid,
    }


def _differs(cache: Any, wanted: Any) -> bool:
    found = [
        cache.has_inventory_changed(wanted.uuid, wanted.inventory),
        cache.have_aggregates_changed(wanted.uuid, wanted.aggregates),
        cache.have_traits_changed(wanted.uuid, wanted.traits),
    ]
    return any(found)


if __name__ == '__main__':
    work.main({'new': New, 'known': Known})
