# SPDX-License-Identifier: Apache-2.0
"""Read the providers that can be part of a candidate with one provider.

It reads four collections (traits, aggregates, inventories, usages) of each
provider of the tree and of each provider that shares with it. It caches
nothing.
"""

import operator
from collections.abc import Callable, Collection, Iterable

from compute_agent.tree import provider

from ... import errors
from ...api import provider_query
from ...http import codec, paths, placement
from ...observe import reader
from . import neighbourhood


class NeighbourhoodReader:
    """Reads neighbourhoods of providers in one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._service = service
        self._reader = reader.Reader(service, clock)

    def read(
        self, target: codec.ListedProvider
    ) -> neighbourhood.Neighbourhood:
        """Return a provider's tree and all providers it can combine with.

        :raises errors.DoesNotExist: the tree was deleted
        """
        rows = self._reader.list_providers(paths.in_tree(target.root_uuid))
        if not rows:
            title = provider.title(target.name, target.uuid)
            raise errors.DoesNotExist(f'provider {title} is gone')
        tree = self._providers(rows)
        own = {row.uuid for row in rows}
        sharing = self._sharing({a for p in tree for a in p.aggregates})
        shared_to = {a for p in tree if p.shares for a in p.aggregates}
        return neighbourhood.Neighbourhood(
            tree=tree,
            sharing=self._providers(r for r in sharing if r.uuid not in own),
            reached=self._roots(shared_to),
        )

    def _providers(
        self, rows: Iterable[codec.ListedProvider]
    ) -> list[neighbourhood.NearProvider]:
        """Return these providers with all their contents, parents first."""
        read = [self._reader.provider(row).provider for row in rows]
        return [
            neighbourhood.NearProvider(provider=p, used=self._used(p.uuid))
            for p in provider.snapshot(read).values()
        ]

    def _used(self, uuid: str) -> dict[str, int]:
        """Return the used amount of each resource class of a provider.

        ``GET /resource_providers/{uuid}/usages`` (1.0): 200, 404.
        """
        body = self._service.get(f'{paths.PROVIDERS}/{uuid}/usages')
        try:
            return {rc: operator.index(n) for rc, n in body['usages'].items()}
        except (AttributeError, KeyError, TypeError) as exc:
            raise errors.MalformedAnswer(
                "placement's answer with usages does not have the documented "
                'shape: '
                f'{str(body)[:120]!r}'
            ) from exc

    def _sharing(
        self, aggregates: Collection[str]
    ) -> list[codec.ListedProvider]:
        """Return the providers that share in these aggregates."""
        if not aggregates:
            return []
        return self._reader.list_providers(paths.sharing(aggregates))

    def _roots(self, aggregates: Collection[str]) -> frozenset[str]:
        """Return the root uuids of all trees with a member of these."""
        if not aggregates:
            return frozenset()
        members = provider_query.MemberOf(aggregates=tuple(sorted(aggregates)))
        query = provider_query.ProviderQuery(member_of=(members,))
        rows = self._reader.list_providers(query.path())
        return frozenset(row.root_uuid for row in rows)
