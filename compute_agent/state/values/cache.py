# SPDX-License-Identifier: Apache-2.0
"""A cache of values read from the state database.

Pure: no I/O, configuration, logging or clock. Each cycle asks for the same few
values of each provider as the cycle before, and few of them have changed in
between. The parts of the state share one cache. They look values up without a
lock, change the cache under the database's lock, and drop a provider from it
whenever they write to that provider. The cache is never outdated, because only
one process writes to a database.
"""

from collections.abc import Collection, Iterable, Mapping

from ...ownership.record import Record
from ...tree import provider


class Cache:
    """Readings by provider, and records by the node they were read for.

    ``_nodes`` has, for each provider, the nodes whose records include it,
    except the node whose root it is.
    """

    def __init__(self) -> None:
        self._readings: dict[str, provider.Reading] = {}
        self._records: dict[str, tuple[frozenset[str], Record]] = {}
        self._nodes: dict[str, set[str]] = {}

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return the cached readings of these providers."""
        found = ((uuid, self._readings.get(uuid)) for uuid in uuids)
        return {uuid: r for uuid, r in found if r is not None}

    def keep_readings(self, readings: Mapping[str, provider.Reading]) -> None:
        """Add readings."""
        self._readings |= readings

    def record(self, uuids: frozenset[str], node_uuid: str) -> Record | None:
        """Return the cached record of exactly these providers, or None."""
        cached = self._records.get(node_uuid)
        return cached[1] if cached is not None and cached[0] == uuids else None

    def has_record(self, uuids: frozenset[str], node_uuid: str) -> bool:
        """True if the node's cached record has all of these providers.

        A plan also covers providers that the driver described and that
        placement does not have yet.
        """
        cached = self._records.get(node_uuid)
        return cached is not None and cached[0] >= uuids

    def keep_record(
        self, uuids: frozenset[str], node_uuid: str, record: Record
    ) -> None:
        """Add the record of these providers, as read for a node."""
        self._records[node_uuid] = uuids, record
        for uuid in uuids - {node_uuid}:
            self._nodes.setdefault(uuid, set()).add(node_uuid)

    def drop(self, uuid: str) -> None:
        """Drop everything about a provider that is written to."""
        self._readings.pop(uuid, None)
        self._records.pop(uuid, None)
        for node_uuid in self._nodes.pop(uuid, ()):
            self._records.pop(node_uuid, None)

    def keep_only(self, node_uuids: Collection[str]) -> None:
        """Drop everything about providers of other nodes only.

        If no node left, nothing is dropped and little is computed.
        """
        nodes = set(node_uuids)
        gone = self._records.keys() - nodes
        known = len(self._nodes) + len(self._records)
        if not gone and len(self._readings) <= known:
            return
        for uuid in gone:
            del self._records[uuid]
        used = frozenset[str]().union(*(u for u, _ in self._records.values()))
        self._readings = {u: r for u, r in self._readings.items() if u in used}
        self._nodes = {
            uuid: left
            for uuid, of_nodes in self._nodes.items()
            if uuid in used and (left := of_nodes & nodes)
        }

    def clear(self) -> None:
        """Drop everything."""
        self._readings.clear()
        self._records.clear()
        self._nodes.clear()
