# SPDX-License-Identifier: Apache-2.0
"""Read and change the aggregates of a provider.

In placement an aggregate is only a uuid. It exists as soon as a provider is a
member. Every change is an optimistic update (``optimistic_update.py``).
"""

from collections.abc import Callable, Iterable

from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, names

from ..http import codec
from . import optimistic_update

_AGGREGATE = assertion.Kind.AGGREGATE


class ProviderAggregates(optimistic_update.ProviderContents):
    """Reads and changes the aggregates of providers."""

    def aggregates(self, target: codec.ListedProvider) -> frozenset[str]:
        """Return the uuids of a provider's aggregates.

        ``GET /resource_providers/{uuid}/aggregates`` (1.19): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        return frozenset(self._update.contents(target, _AGGREGATE)[1])

    def add_aggregates(
        self,
        target: codec.ListedProvider,
        aggregates: Iterable[str],
        *,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetAggregates]:
        """Add a provider to aggregates; it stays in its other aggregates.

        ``PUT /resource_providers/{uuid}/aggregates`` (1.19) after a GET: 200;
        404; 409 for an outdated generation, after which it reads and merges
        again. Placement takes any uuid; this creates the aggregate.

        :param aggregates: uuids
        :param generation: write only under this generation, and only once
        :return: the operation, and the generation after it
        :raises agent_errors.InvalidName: an aggregate is not a uuid
        :raises errors.Outdated: the provider does not have that generation
        :raises errors.Conflict: other writers changed it during every attempt
        :raises errors.NotFound: the provider was deleted
        """
        wanted = names.check_aggregates(aggregates)
        return self._set_aggregates(
            target, lambda current: current | wanted, generation
        )

    def remove_aggregates(
        self,
        target: codec.ListedProvider,
        aggregates: Iterable[str],
        *,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetAggregates]:
        """Remove a provider from aggregates.

        Route, codes and errors are those of ``add_aggregates``.
        """
        unwanted = names.check_aggregates(aggregates)
        return self._set_aggregates(
            target, lambda current: current - unwanted, generation
        )

    def set_aggregates(
        self,
        target: codec.ListedProvider,
        aggregates: Iterable[str],
        *,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetAggregates]:
        """Replace all aggregates of a provider with these.

        Route, codes and errors are those of ``add_aggregates``.
        """
        wanted = names.check_aggregates(aggregates)
        return self._set_aggregates(target, lambda _: wanted, generation)

    def _set_aggregates(
        self,
        target: codec.ListedProvider,
        edit: Callable[[frozenset[str]], frozenset[str]],
        generation: int | None,
    ) -> optimistic_update.Change[ops.SetAggregates]:
        return self._update.change(
            target,
            _AGGREGATE,
            lambda before: ops.SetAggregates(
                uuid=target.uuid,
                name=target.name,
                names=edit(before),
                before=before,
            ),
            expected=generation,
        )
