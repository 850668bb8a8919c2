# SPDX-License-Identifier: Apache-2.0
"""What was read of the state database and still stands there.

A cycle asks for the same few values of each provider as the one before it, and
hardly any of them was written to meanwhile. What is dropped here at each write
is read anew; one process alone writes to a database. ``state.py`` keeps one:
it looks here without a lock, and changes it under that of the database.
"""

from collections.abc import Iterable, Mapping

from ..ownership.record import Record
from ..tree import provider


class Memory:
    """Readings by provider, and records by the node they were read for."""

    def __init__(self) -> None:
        self._readings: dict[str, provider.Reading] = {}
        self._records: dict[str, tuple[frozenset[str], Record]] = {}
        self._nodes: dict[str, set[str]] = {}

    def readings(self, uuids: Iterable[str]) -> dict[str, provider.Reading]:
        """Return the readings of those of these that are remembered."""
        found = ((uuid, self._readings.get(uuid)) for uuid in uuids)
        return {uuid: one for uuid, one in found if one is not None}

    def keep_readings(self, readings: Mapping[str, provider.Reading]) -> None:
        """Remember readings."""
        self._readings |= readings

    def record(self, uuids: frozenset[str], node_uuid: str) -> Record | None:
        """Return the record of these very providers, None for no memory."""
        known = self._records.get(node_uuid)
        return known[1] if known is not None and known[0] == uuids else None

    def has_record(self, uuids: frozenset[str], node_uuid: str) -> bool:
        """Whether a record of these, and maybe of more, is remembered.

        What is planned is about what is described too, there or not.
        """
        known = self._records.get(node_uuid)
        return known is not None and known[0] >= uuids

    def keep_record(
        self, uuids: frozenset[str], node_uuid: str, record: Record
    ) -> None:
        """Remember what is recorded of these providers, as a node has it."""
        self._records[node_uuid] = uuids, record
        for uuid in uuids:
            self._nodes.setdefault(uuid, set()).add(node_uuid)

    def drop(self, uuid: str) -> None:
        """Forget what was read of a provider: it is written to."""
        self._readings.pop(uuid, None)
        for node_uuid in self._nodes.pop(uuid, ()):
            self._records.pop(node_uuid, None)

    def clear(self) -> None:
        """Forget everything."""
        self._readings.clear()
        self._records.clear()
        self._nodes.clear()
