# SPDX-License-Identifier: Apache-2.0
"""Read all of a provider at one generation, with the use of its inventories.

Each part is a request of its own. Parts that are older than the newest one are
read again, so that the result is one moment of the provider.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from compute_agent.tree import assertion, inventory

from .. import errors
from ..http.messages import codec, codec_allocations, paths
from . import provider_contents

REREADS = 4  # times that outdated parts are read again

_Reads = Mapping[str, Callable[[], tuple[int, Any]]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class UsedInventories:
    """The inventories of a provider, and the allocated amounts.

    :ivar used: resource class → amount; 0 if nothing is allocated
    """

    generation: int
    inventories: Mapping[str, inventory.Inventory]
    used: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Details(UsedInventories):
    """All of a provider.

    :ivar consumers: the uuids that have allocations from it
    """

    traits: frozenset[str]
    aggregates: frozenset[str]
    consumers: frozenset[str]


class ProviderDetails(provider_contents.ProviderContents):
    """Reads providers with their usages and allocations."""

    def used_inventories(
        self, target: codec.ListedProvider
    ) -> UsedInventories:
        """Return a provider's inventories, with the allocated amounts.

        ``GET /resource_providers/{uuid}/inventories`` and ``…/usages`` (1.0):
        200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        :raises errors.Conflict: the provider changed during each attempt
        """
        generation, parts = _together(target, self._amounts(target))
        return UsedInventories(generation=generation, **parts)

    def used(self, target: codec.ListedProvider) -> dict[str, int]:
        """Return resource class → allocated amount of a provider.

        ``GET /resource_providers/{uuid}/usages`` (1.0): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        return codec.usages(self._read(target, paths.usages(target.uuid)))[1]

    def allocations(
        self, target: codec.ListedProvider
    ) -> dict[str, codec_allocations.Part]:
        """Return consumer → what it has of a provider.

        ``GET /resource_providers/{uuid}/allocations`` (1.28 for generations):
        200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        path = paths.allocations(target.uuid)
        return codec_allocations.parts(self._read(target, path))

    def details(self, target: codec.ListedProvider) -> Details:
        """Return all of a provider.

        Besides the requests of ``used_inventories``, ``…/traits`` (1.6),
        ``…/aggregates`` (1.19) and ``…/allocations`` (1.0): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        :raises errors.Conflict: the provider changed during each attempt
        """
        generation, parts = _together(
            target,
            {
                **self._amounts(target),
                'traits': self._part(target, assertion.Kind.TRAIT),
                'aggregates': self._part(target, assertion.Kind.AGGREGATE),
                'consumers': lambda: self._consumers(target),
            },
        )
        return Details(generation=generation, **parts)

    def _amounts(self, target: codec.ListedProvider) -> _Reads:
        path = paths.usages(target.uuid)
        return {
            'inventories': self._part(target, assertion.Kind.INVENTORY),
            'used': lambda: codec.usages(self._read(target, path)),
        }

    def _part(
        self, target: codec.ListedProvider, kind: assertion.Kind
    ) -> Callable[[], tuple[int, Any]]:
        return lambda: self.contents(target, kind)

    def _consumers(
        self, target: codec.ListedProvider
    ) -> tuple[int, frozenset[str]]:
        generation, by_class = self._allocated(target)
        return generation, frozenset[str]().union(*by_class.values())


def _together(
    target: codec.ListedProvider, reads: _Reads
) -> tuple[int, dict[str, Any]]:
    """Return the generation at which all parts were read, and the parts.

    :raises errors.Conflict: the provider changed during each attempt
    """
    found = {name: read() for name, read in reads.items()}
    for _ in range(REREADS):
        newest = max(generation for generation, _ in found.values())
        older = [name for name, (at, _) in found.items() if at != newest]
        if not older:
            return newest, {name: part for name, (_, part) in found.items()}
        found.update({name: reads[name]() for name in older})
    raise errors.Conflict(
        f'{target}: other writers changed it during each attempt to read it; '
        'try again'
    )
