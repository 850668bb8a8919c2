# SPDX-License-Identifier: Apache-2.0
"""Read and change the traits of a provider.

Every change is an optimistic update (``optimistic_update.py``). ``traits.py``
has the traits that placement knows, whether or not a provider has them.
"""

from collections.abc import Callable, Iterable

from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, names

from .. import errors
from ..http import codec
from . import optimistic_update, trait_names
from . import traits as traits_api

_TRAIT = assertion.Kind.TRAIT


class ProviderTraits(optimistic_update.ProviderContents):
    """Reads and changes the traits of providers."""

    def traits(self, target: codec.ListedProvider) -> frozenset[str]:
        """Return a provider's traits.

        ``GET /resource_providers/{uuid}/traits`` (1.6): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        return frozenset(self._update.contents(target, _TRAIT)[1])

    def add_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetTraits]:
        """Add traits to a provider; its other traits stay.

        ``PUT /resource_providers/{uuid}/traits`` (1.6) after a GET: 200; 400
        for a trait that placement does not know; 404; 409 for an outdated
        generation, or 500 if placement detects that late. After these two it
        reads and merges again.

        :param create: create missing custom traits
        :param generation: write only under this generation, and only once
        :return: the operation, and the generation after it
        :raises agent_errors.InvalidName: a name is outside the grammar
        :raises errors.DoesNotExist: placement does not know these traits
        :raises errors.Outdated: the provider does not have that generation
        :raises errors.Conflict: other writers changed it during every attempt
        :raises errors.NotFound: the provider was deleted
        """
        wanted = _checked(traits)
        return self._set_traits(
            target,
            lambda current: current | wanted,
            create=create,
            generation=generation,
        )

    def remove_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetTraits]:
        """Remove traits from a provider; its other traits stay.

        Route, codes and errors are those of ``add_traits``.
        """
        unwanted = _checked(traits)
        return self._set_traits(
            target,
            lambda current: current - unwanted,
            create=False,
            generation=generation,
        )

    def set_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetTraits]:
        """Replace all traits of a provider with these.

        Route, codes and errors are those of ``add_traits``.
        """
        wanted = _checked(traits)
        return self._set_traits(
            target, lambda _: wanted, create=create, generation=generation
        )

    def clear_traits(
        self, target: codec.ListedProvider, *, generation: int | None = None
    ) -> optimistic_update.Change[ops.SetTraits]:
        """Remove all traits from a provider.

        It sends a PUT of an empty list, because ``DELETE
        /resource_providers/{uuid}/traits`` takes no generation. Codes and
        errors are those of ``add_traits``.
        """
        return self.set_traits(target, (), generation=generation)

    def check_traits(self, traits: Iterable[str]) -> None:
        """Check that placement knows these traits.

        ``GET /traits?name=in:…`` (1.6): 200.

        :raises errors.DoesNotExist: placement does not know all of them
        """
        api = self._traits_api()
        missing = api.missing(traits)
        if missing:
            raise api.does_not_exist(missing)

    def unknown_traits(self, traits: Iterable[str]) -> dict[str, str]:
        """Return the traits that placement does not know, with suggestions.

        ``GET /traits?name=in:…`` (1.6): 200.

        :return: trait → "; did you mean …?", or '' if no trait is similar
        """
        missing = self._traits_api().missing(traits)
        return {name: trait_names.did_you_mean(name) for name in missing}

    def _traits_api(self) -> traits_api.Traits:
        return traits_api.Traits(self._service)

    def _set_traits(
        self,
        target: codec.ListedProvider,
        edit: Callable[[frozenset[str]], frozenset[str]],
        *,
        create: bool,
        generation: int | None,
    ) -> optimistic_update.Change[ops.SetTraits]:
        return self._update.change(
            target,
            _TRAIT,
            lambda before: ops.SetTraits(
                uuid=target.uuid,
                name=target.name,
                names=edit(before),
                before=before,
            ),
            lambda op: self._create_missing(op.added, create=create),
            generation,
        )

    def _create_missing(self, traits: Iterable[str], *, create: bool) -> None:
        """Create the missing traits among these.

        :raises errors.DoesNotExist: a missing trait is a standard trait, or
            ``create`` is False
        """
        api = self._traits_api()
        missing = api.missing(traits)
        impossible = trait_names.not_creatable(missing, create=create)
        if impossible:
            hint = trait_names.create_hint(impossible)
            raise errors.DoesNotExist(
                f'{api.does_not_exist(impossible)}{hint}'
            )
        for name in missing:
            api.add(name)


def _checked(traits: Iterable[str]) -> frozenset[str]:
    return frozenset(
        trait_names.check(name) for name in names.check_collection(traits)
    )
