# SPDX-License-Identifier: Apache-2.0
"""Choose the lists that show our trees' generations at the least cost.

The complete list of providers is one request for any number of trees, but as
large as the cloud. If the cloud has many more providers than we have trees, a
list for each tree is quicker and smaller, and ``lone_roots.py`` has a still
quicker way for a tree of one provider. This module reads no contents, and
writes nothing to placement; ``observer.py`` calls it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from compute_agent import errors, parallel
from compute_agent.tree import provider

from ..http.messages import codec, paths
from . import lone_roots, reader, store

# A list of one tree costs the server about 3.5 ms. The complete list costs it
# 18 us for each provider, and as much here for decoding.
PROVIDERS_PER_TREE = 200
RECOUNT = 86400.0  # seconds until the providers of the cloud are counted again

Rows = Sequence[codec.ListedProvider]


class ListStrategy:
    """Reads lists of providers.

    :param clock: seconds since the epoch
    :param workers: the number of trees that are listed in parallel
    :ivar lone: the trees of one provider, which need no list each time
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        *,
        clock: Callable[[], float],
        workers: int,
        lone_interval: float = 0,
    ) -> None:
        self._reader = read
        self._store = state
        self._clock = clock
        self._workers = workers
        self._names: frozenset[str] | None = None
        self.lone = lone_roots.LoneRoots(
            read, state, clock=clock, interval=lone_interval
        )

    def trees(
        self, node_uuids: Sequence[str], unsettled: Collection[str] = ()
    ) -> dict[str, Rows | errors.AgentError]:
        """Return node uuid → rows of its tree, or why they are unknown.

        ``GET /resource_providers`` (1.14), or ``?in_tree=`` for each tree, if
        it had more than one provider or its last list is old. The
        rows are empty, or missing, for a node that placement does not have.

        :param unsettled: nodes whose trees are listed in any case
        :raises errors.AgentError: the complete list cannot be read, or the
            service is unavailable
        """
        if len(node_uuids) == 1:
            (uuid,) = node_uuids
            return {uuid: self._tree(uuid, unsettled)}
        if self._is_crowded(len(node_uuids)):
            self._names = None
            return self._tree_by_tree(node_uuids, unsettled)
        return self._all(node_uuids) if node_uuids else {}

    def uuid_of_name(self, name: str) -> str | None:
        """Return the uuid of the provider with this name, or None.

        ``GET /resource_providers?name=`` (1.0), unless the last complete list
        shows that the name is free.
        """
        if self._names is not None and name not in self._names:
            return None
        rows = self._reader.list_providers(paths.by_name(name))
        return next((row.uuid for row in rows if row.name == name), None)

    def _is_crowded(self, trees: int) -> bool:
        """Return True if it costs less to list this many trees one by one."""
        size = self._store.site.size()
        if size is None:
            return False
        age = self._clock() - size.counted_at
        return (
            0 <= age < RECOUNT and size.providers > PROVIDERS_PER_TREE * trees
        )

    def _all(
        self, node_uuids: Sequence[str]
    ) -> dict[str, Rows | errors.AgentError]:
        listed = self._reader.list_providers(paths.PROVIDERS)
        if len(listed) > PROVIDERS_PER_TREE * len(node_uuids):
            self._store.site.save_size(
                provider.Size(providers=len(listed), counted_at=self._clock())
            )
        self._names = frozenset(row.name for row in listed)
        return _trees(listed, set(node_uuids))

    def _tree(self, uuid: str, unsettled: Collection[str]) -> Rows:
        """Return the rows of one tree."""
        row = None if uuid in unsettled else self.lone.row(uuid)
        if row is not None:
            return [row]
        rows = self._reader.list_providers(paths.in_tree(uuid))
        self.lone.listed(uuid, rows)
        return rows

    def _tree_by_tree(
        self, node_uuids: Sequence[str], unsettled: Collection[str]
    ) -> dict[str, Rows | errors.AgentError]:
        found: dict[str, Rows | errors.AgentError] = {}

        def ask(uuid: str) -> None:
            try:
                found[uuid] = self._tree(uuid, unsettled)
            except errors.UnknownState as exc:  # concerns this tree only
                found[uuid] = exc

        parallel.each(node_uuids, ask, workers=self._workers)
        return found


def _trees(
    listed: Iterable[codec.ListedProvider], wanted: set[str]
) -> dict[str, Rows | errors.AgentError]:
    """Return wanted provider uuid → rows of the tree that it is in."""
    trees: dict[str, list[codec.ListedProvider]] = {}
    for row in listed:
        trees.setdefault(row.root_uuid, []).append(row)
    found: dict[str, Rows | errors.AgentError] = {}
    for rows in trees.values():
        for row in rows:  # a node's provider may not be the root
            if row.uuid in wanted:
                found[row.uuid] = rows
    return found
