# SPDX-License-Identifier: Apache-2.0
"""Check trees of one provider by their allocations, which costs placement least.

The answer to ``GET /resource_providers/{uuid}/allocations`` has the provider's
generation, which every change of traits, aggregates and inventories raises. It
shows no change of the provider's name or parent, and no child that another
writer adds. So the tree is listed again from time to time, after each plan that
this agent sends, after a cycle that failed, and if the generation changed. If
the only change is an allocation, the answer proves it, and nothing is read. This
module writes nothing to placement; ``list_strategy.py`` calls it.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

from compute_agent.tree import provider

from .. import errors
from ..http.messages import codec
from . import reader, store

LIST_AGAIN = 300.0  # seconds until a tree of one provider is listed again

# Resource class → the consumers that have allocations of it.
_Consumers = Mapping[str, frozenset[str]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """The state of a tree that had one provider when it was listed.

    :ivar generation: the provider's when its consumers were read; -1 if they
        were not read
    """

    listed_at: float
    generation: int = -1
    consumers: _Consumers = dataclasses.field(default_factory=dict)


class LoneRoots:
    """Remembers the trees that had one provider; threads may share it.

    :param clock: seconds since the epoch
    :param interval: seconds for which a list is enough; 0 to list each time
    """

    def __init__(
        self,
        read: reader.Reader,
        state: store.State,
        *,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._reader = read
        self._store = state
        self._clock = clock
        self._interval = min(interval, LIST_AGAIN)
        self._checked: dict[str, _Checked] = {}
        self._is_refused = False

    def row(self, uuid: str) -> codec.ListedProvider | None:
        """Return the row that a list of this tree would have now.

        None if only a list can tell. If the provider has a new allocation and
        no other change, the stored reading gets the new generation.

        ``GET /resource_providers/{uuid}/allocations``: 200, 404.
        """
        checked, reading = self._listed(uuid), self._reading(uuid)
        if checked is None or reading is None:
            return None
        since = self._store.journal.moment()
        try:
            generation, consumers = self._reader.allocated(uuid)
        except errors.NotFound:
            return None
        except errors.NotAuthorised:  # perhaps of allocations only
            self._is_refused = True
            return None
        now = dataclasses.replace(
            checked, generation=generation, consumers=consumers
        )
        if generation != reading.provider.generation:
            if not _is_allocation(reading, checked, now):
                return None
            reading = _at(reading, generation)
            self._store.journal.save([reading], since=since, may_be_lost=True)
        self._checked[uuid] = now
        return _row(reading)

    def listed(self, uuid: str, rows: Sequence[codec.ListedProvider]) -> None:
        """Note the complete list of a tree."""
        checked = self._checked.pop(uuid, _Checked(listed_at=0))
        if [(row.uuid, row.root_uuid, row.fault) for row in rows] == [
            (uuid, uuid, '')
        ]:
            self._checked[uuid] = dataclasses.replace(
                checked, listed_at=self._clock()
            )

    def forget(self, uuid: str) -> None:
        """Have a tree listed the next time."""
        self._checked.pop(uuid, None)

    def forget_all(self) -> None:
        """Have every tree listed the next time."""
        self._checked.clear()

    def keep_only(self, uuids: Collection[str]) -> None:
        """Forget all other trees."""
        for uuid in self._checked.keys() - set(uuids):
            del self._checked[uuid]

    def _listed(self, uuid: str) -> _Checked | None:
        """Return the stored state of a tree; None if it must be listed."""
        checked = self._checked.get(uuid)
        if checked is None or self._is_refused:
            return None
        age = self._clock() - checked.listed_at
        return checked if 0 <= age < self._interval else None

    def _reading(self, uuid: str) -> provider.Reading | None:
        """Return the stored reading; None if it is in doubt."""
        reading = self._store.snapshot.readings([uuid]).get(uuid)
        return None if reading is None or reading.suspect else reading


def _is_allocation(
    reading: provider.Reading, before: _Checked, now: _Checked
) -> bool:
    """Return True if nothing but an allocation changed a provider since.

    A new consumer proves a write of allocations, and each one raises the
    generation. If it rose by one, that write was the only change. (The end of
    an allocation does not raise it, so fewer consumers prove nothing.)

    :param before: the earlier state, with the consumers that the provider then
        had
    """
    return (
        reading.provider.generation == before.generation
        and now.generation == before.generation + 1
        and any(
            consumers - before.consumers.get(rc, frozenset())
            for rc, consumers in now.consumers.items()
        )
    )


def _row(reading: provider.Reading) -> codec.ListedProvider:
    """Return the row of a provider as it was read."""
    return codec.ListedProvider(
        uuid=reading.provider.uuid,
        name=reading.provider.name,
        generation=reading.provider.generation or 0,
        parent_uuid=reading.provider.parent_uuid,
        root_uuid=reading.root_uuid,
    )


def _at(reading: provider.Reading, generation: int) -> provider.Reading:
    """Return a reading whose contents are the same at this generation."""
    return dataclasses.replace(
        reading,
        provider=dataclasses.replace(reading.provider, generation=generation),
    )
