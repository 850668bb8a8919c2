# SPDX-License-Identifier: Apache-2.0
"""Reading placement: lists, whole providers, and the names it knows.

What comes back is complete and well-formed, or an error is raised. It
remembers nothing; ``observer.py`` decides what need not be read at all.
"""

from collections.abc import Callable, Mapping
from typing import Any

from compute_agent.tree import allocations as alloc
from compute_agent.tree import assertion, names, provider

from .. import errors as placement_errors
from ..http import codec, codec_allocations, list_stream, placement

REREADS = 4  # times what is older than the rest of a provider is read anew

# The fields of a Provider, by the kind of what is in them.
FIELDS = {
    assertion.Kind.TRAIT: 'traits',
    assertion.Kind.AGGREGATE: 'aggregates',
    assertion.Kind.INVENTORY: 'inventories',
}

# What was read of each kind, and at which generation.
_Parts = Mapping[assertion.Kind, tuple[int, Any]]


class Reader:
    """Reads one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._service = service
        self._clock = clock

    def list_providers(self, path: str) -> list[codec.ListedProvider]:
        """Return the rows of one list of providers."""
        return self._service.read(path, list_stream.listed_providers)

    def provider(self, row: codec.ListedProvider) -> provider.Reading:
        """Read one provider whole, all parts at one generation.

        What is older than the newest part is read again, a few times.

        :raises errors.LookAgain: it moved all the while
        """
        parts = {kind: self.contents(row.uuid, kind) for kind in FIELDS}
        for _ in range(REREADS):
            for kind in _older(parts):
                parts[kind] = self.contents(row.uuid, kind)
        if not _older(parts):
            return _reading(row, parts, self._clock())
        raise placement_errors.Conflict(
            f'{provider.title(row.name, row.uuid)}: changed by others all the '
            'while it was read'
        )

    def contents(self, uuid: str, kind: assertion.Kind) -> tuple[int, Any]:
        """Return generation and content of one provider's one kind."""
        path = codec.collection_path(uuid, kind)
        return codec.contents(kind, self._service.get(path))

    def allocated(self, uuid: str) -> tuple[int, dict[str, frozenset[str]]]:
        """Return generation and consumers by class of one provider."""
        return codec.allocated(self._service.get(codec.allocations_path(uuid)))

    def consumer(self, uuid: str) -> tuple[alloc.Consumer, dict[str, int]]:
        """Return all that a consumer has, and its providers' generations.

        :raises errors.LookAgain: it has nothing any more
        """
        body = self._service.get(codec_allocations.consumer_path(uuid))
        found = codec_allocations.consumer(uuid, body)
        if found is None:
            raise placement_errors.Conflict(
                f'consumer {uuid} was deleted while planning'
            )
        return found

    def known_names(self) -> names.KnownNames:
        """Return the traits and resource classes that placement knows."""
        return names.KnownNames(
            traits=codec.traits(self._service.get('/traits')),
            resource_classes=codec.resource_classes(
                self._service.get('/resource_classes')
            ),
            read_at=self._clock(),
        )


def _newest(parts: _Parts) -> int:
    return max(generation for generation, _ in parts.values())


def _older(parts: _Parts) -> list[assertion.Kind]:
    """Return the kinds that were read before the provider moved."""
    newest = _newest(parts)
    return [kind for kind, (at, _) in parts.items() if at != newest]


def _reading(
    row: codec.ListedProvider, parts: _Parts, read_at: float
) -> provider.Reading:
    return provider.Reading(
        provider=provider.Provider(
            uuid=row.uuid,
            name=row.name,
            parent_uuid=row.parent_uuid,
            generation=_newest(parts),
            **{FIELDS[k]: content for k, (_, content) in parts.items()},
        ),
        root_uuid=row.root_uuid,
        read_at=read_at,
    )
