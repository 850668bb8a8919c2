# SPDX-License-Identifier: Apache-2.0
"""Reads about all providers of a placement, with as few requests as possible.

Placement lists providers without their contents. So the reads of many
providers ask for those that meet a condition. The contents of one provider
take a request for each kind.
"""

import dataclasses
import email.utils
from collections.abc import Collection, Iterable, Mapping

from compute_agent.plan import allocations as alloc
from compute_agent.tree import assertion

from .. import errors
from ..http import placement
from ..http.messages import codec, codec_allocations, paths
from . import providers, resource_classes, traits
from .values import provider_query, trait_names, trait_query

_ATTEMPTS = 3  # to read a provider at one generation


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The inventories and allocations of a provider, at one generation.

    :ivar inventories: total, reserved and ratio, by resource class
    :ivar allocations: consumer → resource class → amount
    """

    generation: int
    inventories: Mapping[str, codec_allocations.Capacity]
    allocations: Mapping[str, Mapping[str, int]]


class Survey:
    """The providers of one placement service, read as a whole."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service
        self._providers = providers.Providers(service)
        self._traits = traits.Traits(service)

    def providers(self) -> list[codec.ListedProvider]:
        """Return all providers, sorted by name; one request."""
        return self._providers.list_providers()

    def with_trait(self, name: str) -> frozenset[str]:
        """Return the uuids of the providers with a trait; one request.

        If placement does not know the trait, no provider has it.
        """
        try:
            rows = self._traits.holders(name)
        except errors.UnknownName:
            return frozenset()
        return frozenset(row.uuid for row in rows)

    def traitless(
        self, listed: Iterable[str], used: Iterable[str]
    ) -> frozenset[str]:
        """Return the uuids of the providers without any trait.

        The number of requests depends on the number of traits in use only.

        :param listed: the uuids of all providers
        :param used: all traits that a provider has
        """
        found = set(listed)
        for part in trait_names.in_queries(sorted(used)):
            query = provider_query.ProviderQuery(
                traits=trait_query.TraitQuery(forbidden=tuple(part))
            )
            rows = self._providers.list_providers(query)
            found &= {row.uuid for row in rows}
        return frozenset(found)

    def with_free(self, resource_class: str) -> frozenset[str]:
        """Return the providers with a free unit of a class; one request."""
        query = provider_query.ProviderQuery(resources={resource_class: 1})
        rows = self._providers.list_providers(query)
        return frozenset(row.uuid for row in rows)

    def trait_names(self, *, associated: bool | None = None) -> list[str]:
        """Return the traits that placement knows; see ``Traits.names``."""
        return self._traits.names(associated=associated)

    def resource_classes(self) -> frozenset[str]:
        """Return the resource classes that placement knows."""
        return frozenset(
            resource_classes.ResourceClasses(self._service).names()
        )

    def use(self, target: codec.ListedProvider) -> Use | None:
        """Return inventories and allocations of a provider.

        Two requests, one if there is no inventory, and more if the provider
        changes in between; None if it changes each time, or is gone.
        """
        try:
            for _ in range(_ATTEMPTS):
                path = paths.collection(target.uuid, assertion.Kind.INVENTORY)
                generation, inventories = codec_allocations.capacities(
                    self._service.get(path)
                )
                if not inventories:
                    return Use(
                        generation=generation, inventories={}, allocations={}
                    )
                body = self._service.get(paths.allocations(target.uuid))
                same, allocations = codec_allocations.used(body)
                if same == generation:
                    return Use(
                        generation=generation,
                        inventories=inventories,
                        allocations=allocations,
                    )
        except errors.NotFound:
            return None
        return None

    def names_of(
        self, target: codec.ListedProvider, kind: assertion.Kind
    ) -> tuple[int, frozenset[str]] | None:
        """Return generation and traits or aggregates; None if it is gone."""
        try:
            generation, found = self._providers.contents(target, kind)
        except errors.NotFound:
            return None
        return generation, frozenset(found)

    def changed_at(self, target: codec.ListedProvider) -> float | None:
        """Return the time of the last change in seconds since the epoch.

        ``GET /resource_providers/{uuid}`` (1.15 for the header). None if the
        provider is gone, or the header is missing.
        """
        request = codec.Request(method='GET', path=paths.provider(target.uuid))
        try:
            text = self._service.reply(request).last_modified
        except errors.NotFound:
            return None
        try:
            return email.utils.parsedate_to_datetime(text).timestamp()
        except ValueError:
            return None

    def consumer(self, uuid: str) -> alloc.Consumer | None:
        """Return a consumer with its allocations; None without allocations."""
        body = self._service.get(paths.consumer(uuid))
        found = codec_allocations.consumer(uuid, body)
        return found and found[0]

    def delete_allocations(
        self, consumer: alloc.Consumer, but: Collection[str] = ()
    ) -> None:
        """Take the allocations off a consumer, if it is unchanged.

        :param but: the providers where the consumer keeps its allocations
        :raises errors.Conflict: the consumer changed since it was read
        """
        kept = {u: consumer.allocations[u] for u in but}
        self._service.send(codec_allocations.remainder(consumer, kept))
