# SPDX-License-Identifier: Apache-2.0
"""Reading placement: lists, whole providers, and the names it knows.

What comes back is complete and well-formed, or an error is raised. It
remembers nothing; ``observe.py`` decides what need not be read at all.
"""

from collections.abc import Callable
from typing import Any

from compute_agent import assertion, errors, names, provider

from . import placement, wire

READS = 3  # times a provider that moves between our reads is read anew

# The fields of a Provider, by the kind of what is in them.
FIELDS = {
    assertion.Kind.TRAIT: 'traits',
    assertion.Kind.AGGREGATE: 'aggregates',
    assertion.Kind.INVENTORY: 'inventories',
}


class Reader:
    """Reads one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._service = service
        self._clock = clock

    def listed(self, path: str) -> list[wire.Listed]:
        """Return the rows of one list of providers."""
        return wire.listed(self._service.get(path))

    def provider(self, row: wire.Listed) -> provider.Reading:
        """Read one provider whole, all parts at one generation.

        :raises errors.UnknownState: it moved during each reading
        """
        for _ in range(READS):
            parts = {k: self.contents(row.uuid, k) for k in FIELDS}
            generations = {generation for generation, _ in parts.values()}
            if len(generations) == 1:
                return provider.Reading(
                    provider=provider.Provider(
                        uuid=row.uuid,
                        name=row.name,
                        parent_uuid=row.parent_uuid,
                        generation=generations.pop(),
                        **{FIELDS[k]: c for k, (_, c) in parts.items()},
                    ),
                    root_uuid=row.root_uuid,
                    read_at=self._clock(),
                )
        raise errors.UnknownState(
            f'{provider.title(row.name, row.uuid)}: changed by others during each of '
            f'{READS} readings'
        )

    def contents(self, uuid: str, kind: assertion.Kind) -> tuple[int, Any]:
        """Return generation and content of one provider's one kind."""
        path = wire.collection(uuid, kind)
        return wire.contents(kind, self._service.get(path))

    def allocated(self, uuid: str) -> tuple[int, dict[str, frozenset[str]]]:
        """Return generation and consumers by class of one provider."""
        return wire.allocated(self._service.get(wire.allocations(uuid)))

    def known_names(self) -> names.KnownNames:
        """Return the traits and resource classes that placement knows."""
        return names.KnownNames(
            traits=wire.traits(self._service.get('/traits')),
            resource_classes=wire.resource_classes(
                self._service.get('/resource_classes')
            ),
            read_at=self._clock(),
        )
