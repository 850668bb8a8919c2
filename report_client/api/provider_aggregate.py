# SPDX-License-Identifier: Apache-2.0
"""The aggregates of one provider, as Python.

Placement knows aggregates by their uuids alone; one comes to be when a
provider is made a member. What the methods share is said in ``contents.py``.
"""

from collections.abc import Callable, Iterable

from compute_agent.tree import assertion, names

from ..http import codec
from ..operations import operations as ops
from . import optimistic_update

_AGGREGATE = assertion.Kind.AGGREGATE


class ProviderAggregates(optimistic_update.Changes):
    """The aggregates that the providers of one placement service are in."""

    def aggregates(self, one: codec.Listed) -> frozenset[str]:
        """Return the uuids of a provider's aggregates.

        ``GET /resource_providers/{uuid}/aggregates`` (1.19): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return frozenset(self._guarded.contents(one, _AGGREGATE)[1])

    def add_aggregates(
        self, one: codec.Listed, some: Iterable[str]
    ) -> ops.SetAggregates:
        """Make a provider a member of aggregates, besides those it is in.

        ``PUT /resource_providers/{uuid}/aggregates`` (1.19) after a GET: 200;
        404; 409 for another generation, which is read and merged again.
        Placement takes any uuid: the aggregate comes to be by this.

        :raises agent_errors.InvalidName: one of them is no uuid
        :raises errors.Conflict: others came between, each time
        :raises errors.Vanished: the provider is gone
        """
        wanted = names.check_aggregates(some)
        return self._set_aggregates(one, lambda have: have | wanted)

    def remove_aggregates(
        self, one: codec.Listed, some: Iterable[str]
    ) -> ops.SetAggregates:
        """Take a provider out of aggregates; codes as ``add_aggregates``."""
        gone = names.check_aggregates(some)
        return self._set_aggregates(one, lambda have: have - gone)

    def _set_aggregates(
        self,
        one: codec.Listed,
        edit: Callable[[frozenset[str]], frozenset[str]],
    ) -> ops.SetAggregates:
        return self._guarded.change(
            one,
            _AGGREGATE,
            lambda before: ops.SetAggregates(
                uuid=one.uuid,
                name=one.name,
                names=edit(before),
                before=before,
            ),
        )
