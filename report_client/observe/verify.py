# SPDX-License-Identifier: Apache-2.0
"""The reads for a plan: always from placement, in the cycle of the plan.

A plan is made from an observation, which may come from the store. This module
reads allocations for the plan, and a part of a provider just before it is
written. If a generation differs from the expected one, another writer changed
the provider. It writes nothing to placement. ``apply/executor.py`` and
``client.py`` call it.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from compute_agent.plan import allocations as alloc
from compute_agent.plan.observation import Observation
from compute_agent.tree import assertion, provider

from .. import errors
from . import reader, store


class Verifier:
    """Reads again what a plan depends on."""

    def __init__(self, read: reader.Reader, kept: store.State) -> None:
        self._reader = read
        self._store = kept

    def verify(
        self, expected: provider.Provider, kind: assertion.Kind
    ) -> None:
        """Read one part of a provider again.

        :param expected: the provider as it was observed, and as this plan has
            changed it since
        :raises errors.Replan: the part is not as expected
        """
        generation, content = self._reader.contents(expected.uuid, kind)
        _check_generation(expected, generation)
        field = reader.FIELDS[kind]
        if content != getattr(expected, field):
            self._invalidate(expected)
            raise _conflict(
                expected,
                f'{expected}: its {field} changed without a generation',
            )

    def consumers(
        self, providers: Iterable[provider.Provider]
    ) -> dict[str, alloc.Consumers]:
        """Return the consumers of each provider, by resource class.

        :raises errors.Replan: a provider changed since it was observed
        """
        found: dict[str, alloc.Consumers] = {}
        for observed in providers:
            generation, consumers = self._reader.allocated(observed.uuid)
            _check_generation(observed, generation)
            found[observed.uuid] = consumers
        return found

    def allocations(self, seen: Observation) -> alloc.Allocations:
        """Return all allocations of a node's own tree.

        It costs one read for each provider, and one for each consumer, which
        shows the consumer's allocations in other trees too.

        :raises errors.Replan: something changed since it was observed
        """
        home = [p for u, p in seen.providers.items() if u in seen.home]
        consumers: dict[str, alloc.Consumer] = {}
        generations: dict[str, int] = {}
        by_provider = self.consumers(home)
        for uuid in _all_consumers(by_provider):
            consumers[uuid], its_generations = self._reader.consumer(uuid)
            generations |= its_generations
        for observed in home:
            _check_generation(
                observed, generations.get(observed.uuid, observed.generation)
            )
            _check_still_there(observed, by_provider[observed.uuid], consumers)
        return alloc.Allocations(consumers, generations)

    def _invalidate(self, observed: provider.Provider) -> None:
        """Make the next observation read this provider completely."""
        since = self._store.journal.moment()
        kept = self._store.snapshot.readings([observed.uuid])
        self._store.journal.save(
            (dataclasses.replace(r, read_at=0.0) for r in kept.values()),
            since=since,
        )


def _check_generation(
    observed: provider.Provider, generation: int | None
) -> None:
    if generation != observed.generation:
        raise _conflict(
            observed, f'{observed}: another writer changed it meanwhile'
        )


def _conflict(observed: provider.Provider, text: str) -> errors.Conflict:
    return errors.Conflict(text, subject=str(observed))


def _check_still_there(
    observed: provider.Provider,
    by_class: alloc.Consumers,
    consumers: Mapping[str, alloc.Consumer],
) -> None:
    """Check that the consumers still have allocations from the provider."""
    for rc, uuids in by_class.items():
        for uuid in uuids:
            if rc not in consumers[uuid].allocations.get(observed.uuid, {}):
                raise _conflict(
                    observed, f'consumer {uuid} was moved while planning'
                )


def _all_consumers(by_provider: Mapping[str, alloc.Consumers]) -> list[str]:
    """Return the consumers of any class of any provider, in order."""
    return sorted(
        frozenset[str]().union(
            *(
                uuids
                for by_class in by_provider.values()
                for uuids in by_class.values()
            )
        )
    )
