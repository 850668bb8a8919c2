# SPDX-License-Identifier: Apache-2.0
"""Read lists, whole providers, and known names from placement.

Each method returns a complete, well-formed result or raises an error. Nothing
is cached here; ``observer.py`` decides which providers need not be read.
"""

import collections
from collections.abc import Callable, Mapping
from typing import Any

from compute_agent.plan import allocations as alloc
from compute_agent.tree import assertion, names, provider

from .. import errors as placement_errors
from ..http import placement
from ..http.messages import codec, codec_allocations, list_stream, paths

REREADS = 4  # times that outdated parts of a provider are read again

# The fields of a Provider, by the kind of their contents.
FIELDS = {
    assertion.Kind.TRAIT: 'traits',
    assertion.Kind.AGGREGATE: 'aggregates',
    assertion.Kind.INVENTORY: 'inventories',
}

# Kind → the generation at which it was read, and its contents.
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
        """Return the providers of one list; some rows may have a fault.

        :param path: ``GET /resource_providers`` with a query (1.14)
        :raises errors.MalformedAnswer: a provider is listed twice
        """
        rows = self._service.read(path, list_stream.listed_providers)
        if len({row.uuid for row in rows}) < len(rows):
            counts = collections.Counter(row.uuid for row in rows)
            twice = next(row for row in rows if counts[row.uuid] > 1)
            raise placement_errors.MalformedAnswer(
                f"placement's list of providers has {twice} twice"
            )
        return rows

    def provider(self, row: codec.ListedProvider) -> provider.Reading:
        """Return one provider with all parts at the same generation.

        ``GET /resource_providers/{uuid}/traits`` (1.6), ``…/aggregates`` (1.19)
        and ``…/inventories`` (1.0). Parts that are older than the newest one
        are read again, up to 4 times.

        :raises errors.Conflict: the provider changed during all of these reads
        :raises errors.NotFound: the provider was deleted (404)
        """
        parts = {kind: self.contents(row.uuid, kind) for kind in FIELDS}
        for _ in range(REREADS):
            for kind in _older(parts):
                parts[kind] = self.contents(row.uuid, kind)
        if not _older(parts):
            return _reading(row, parts, self._clock())
        raise placement_errors.Conflict(
            f'{provider.title(row.name, row.uuid)}: other writers changed it '
            'during each attempt to read it'
        )

    def contents(self, uuid: str, kind: assertion.Kind) -> tuple[int, Any]:
        """Return the generation and one kind of a provider's contents."""
        path = paths.collection(uuid, kind)
        return codec.contents(kind, self._service.get(path))

    def allocated(self, uuid: str) -> tuple[int, dict[str, frozenset[str]]]:
        """Return a provider's generation, and resource class → consumer uuids.

        ``GET /resource_providers/{uuid}/allocations``: 200, 404.
        """
        return codec.allocated(self._service.get(paths.allocations(uuid)))

    def consumer(self, uuid: str) -> tuple[alloc.Consumer, dict[str, int]]:
        """Return a consumer's allocations, and its providers' generations.

        ``GET /allocations/{consumer}`` (1.28; the type from 1.38): 200.

        :raises errors.Conflict: the consumer has no allocations any more
        """
        body = self._service.get(paths.consumer(uuid))
        found = codec_allocations.consumer(uuid, body)
        if found is None:
            raise placement_errors.Conflict(
                f'consumer {uuid} was deleted while planning'
            )
        return found

    def known_names(self) -> names.KnownNames:
        """Return the traits and resource classes that placement knows.

        ``GET /traits`` (1.6) and ``GET /resource_classes`` (1.2): 200.
        """
        return names.KnownNames(
            traits=codec.traits(self._service.get(paths.TRAITS)),
            resource_classes=codec.resource_classes(
                self._service.get(paths.RESOURCE_CLASSES)
            ),
            read_at=self._clock(),
        )


def _newest(parts: _Parts) -> int:
    return max(generation for generation, _ in parts.values())


def _older(parts: _Parts) -> list[assertion.Kind]:
    """Return the kinds that are older than the newest one."""
    newest = _newest(parts)
    return [kind for kind, (read_at, _) in parts.items() if read_at != newest]


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
