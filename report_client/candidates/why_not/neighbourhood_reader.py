# SPDX-License-Identifier: Apache-2.0
"""Reading what could take part in a candidate together with one provider.

Four collections of every provider in its tree, and of every one that shares
with it. It remembers nothing.
"""

import operator
from collections.abc import Callable, Collection, Iterable

from compute_agent.tree import provider

from ... import errors
from ...api import provider_query
from ...http import codec, placement
from ...observe import reader
from . import neighbourhood


class Surroundings:
    """Reads the surroundings of providers in one placement service.

    :param clock: seconds since the epoch
    """

    def __init__(
        self, service: placement.Placement, clock: Callable[[], float]
    ) -> None:
        self._service = service
        self._reader = reader.Reader(service, clock)

    def of(self, one: codec.Listed) -> neighbourhood.Vicinity:
        """Return a provider's tree and all that it can be a candidate with.

        :raises errors.NotFound: the tree is gone
        """
        rows = self._reader.listed(codec.in_tree(one.root_uuid))
        if not rows:
            title = provider.title(one.name, one.uuid)
            raise errors.DoesNotExist(f'provider {title} is gone')
        tree = self._standings(rows)
        own = {row.uuid for row in rows}
        sharing = self._sharing({a for some in tree for a in some.aggregates})
        given = {a for some in tree if some.shares for a in some.aggregates}
        return neighbourhood.Vicinity(
            tree=tree,
            sharing=self._standings(r for r in sharing if r.uuid not in own),
            reached=self._roots(given),
        )

    def _standings(
        self, rows: Iterable[codec.Listed]
    ) -> list[neighbourhood.Standing]:
        """Read these providers whole; parents come before children."""
        read = [self._reader.provider(row).provider for row in rows]
        return [
            neighbourhood.Standing(provider=one, used=self._used(one.uuid))
            for one in provider.snapshot(read).values()
        ]

    def _used(self, uuid: str) -> dict[str, int]:
        """Return how much of each resource class of a provider is used.

        ``GET /resource_providers/{uuid}/usages`` (1.0): 200, 404.
        """
        body = self._service.get(f'{codec.PROVIDERS}/{uuid}/usages')
        try:
            return {rc: operator.index(n) for rc, n in body['usages'].items()}
        except (AttributeError, KeyError, TypeError) as exc:
            raise errors.MalformedAnswer(
                f'placement answered usages of another shape than documented: '
                f'{str(body)[:120]!r}'
            ) from exc

    def _sharing(self, aggregates: Collection[str]) -> list[codec.Listed]:
        """Return who shares in these aggregates."""
        if not aggregates:
            return []
        return self._reader.listed(codec.sharing(aggregates))

    def _roots(self, aggregates: Collection[str]) -> frozenset[str]:
        """Return the roots of all trees with somebody in these aggregates."""
        if not aggregates:
            return frozenset()
        some = provider_query.MemberOf(aggregates=tuple(sorted(aggregates)))
        query = provider_query.ProviderQuery(member_of=(some,))
        rows = self._reader.listed(query.path())
        return frozenset(row.root_uuid for row in rows)
