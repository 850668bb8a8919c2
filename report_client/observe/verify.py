# SPDX-License-Identifier: Apache-2.0
"""What is read for a plan, in the cycle of the plan: never from memory.

A plan rests on an observation, which may be remembered; what it would write,
and what is allocated, is read here, at the generations that were observed. If
they are others, somebody came between and the node is looked at again. It
writes nothing to placement; ``plan/planner.py`` and ``client.py`` call it.
"""

import dataclasses
from collections.abc import Iterable

from compute_agent.ownership import in_use
from compute_agent.tree import provider

from .. import errors
from ..operations import allocations as alloc
from . import observation, reader, store


class Fresh:
    """Reads for plans."""

    def __init__(self, read: reader.Reader, kept: store.State) -> None:
        self._reader = read
        self._store = kept

    def verify(
        self, seen: observation.Observation, parts: Iterable[observation.Part]
    ) -> None:
        """Read these parts afresh, but for those that were in this cycle.

        :raises errors.LookAgain: one is not as observed
        """
        for uuid, kind in sorted(set(parts) - seen.fresh):
            one = seen.providers[uuid]
            generation, content = self._reader.contents(uuid, kind)
            _check(one, generation)
            field = reader.FIELDS[kind]
            if content != getattr(one, field):
                self._doubt(one)
                raise errors.Conflict(
                    f'{one}: its {field} changed without a generation'
                )

    def allocated(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, in_use.Consumers]:
        """Return the consumers by class of these providers.

        :raises errors.LookAgain: one of them moved since it was observed
        """
        found: dict[str, in_use.Consumers] = {}
        for one in providers:
            generation, consumers = self._reader.allocated(one.uuid)
            _check(one, generation)
            found[one.uuid] = consumers
        return found

    def allocations(self, seen: observation.Observation) -> alloc.Allocations:
        """Return what is allocated of a node's own tree.

        One read for each provider of it, and one for each consumer, which
        shows what that one has elsewhere too.

        :raises errors.LookAgain: something moved since it was observed
        """
        home = [p for u, p in seen.providers.items() if u in seen.home]
        consumers: dict[str, alloc.Consumer] = {}
        generations: dict[str, int] = {}
        by_provider = self.allocated(home)
        for uuid in _every(by_provider):
            consumers[uuid], some = self._reader.consumer(uuid)
            generations |= some
        for one in home:
            _check(one, generations.get(one.uuid, one.generation))
            for rc, holders in by_provider[one.uuid].items():
                for uuid in holders:
                    if rc not in consumers[uuid].allocations.get(one.uuid, {}):
                        raise errors.Conflict(
                            f'consumer {uuid} was moved while planning'
                        )
        return alloc.Allocations(consumers, generations)

    def _doubt(self, one: provider.Provider) -> None:
        """Make sure that this provider is read whole at the next look."""
        since = self._store.journal.moment()
        kept = self._store.snapshot.readings([one.uuid])
        self._store.journal.save(
            (dataclasses.replace(r, read_at=0.0) for r in kept.values()),
            since=since,
        )


def _check(one: provider.Provider, generation: int | None) -> None:
    if generation != one.generation:
        raise errors.Conflict(f'{one} moved while planning')


def _every(allocated_of: dict[str, in_use.Consumers]) -> list[str]:
    """Return the consumers of any class of any of these, in order."""
    return sorted(
        frozenset[str]().union(
            *(
                holders
                for by_class in allocated_of.values()
                for holders in by_class.values()
            )
        )
    )
