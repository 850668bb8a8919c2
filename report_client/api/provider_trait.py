# SPDX-License-Identifier: Apache-2.0
"""The traits of one provider, as Python (seed 000).

What the methods share is said in ``contents.py``; ``traits.py`` has the traits
themselves, whoever has them.
"""

from collections.abc import Callable, Iterable

from compute_agent.tree import assertion, names

from .. import errors
from ..http import codec
from ..operations import operations as ops
from . import optimistic_update, trait_names
from . import traits as traits_api

_TRAIT = assertion.Kind.TRAIT


class ProviderTraits(optimistic_update.Changes):
    """The traits that the providers of one placement service have."""

    def traits(self, one: codec.Listed) -> frozenset[str]:
        """Return a provider's traits.

        ``GET /resource_providers/{uuid}/traits`` (1.6): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return frozenset(self._guarded.contents(one, _TRAIT)[1])

    def add_traits(
        self, one: codec.Listed, some: Iterable[str], *, create: bool = False
    ) -> ops.SetTraits:
        """Give a provider traits, besides those that it has.

        ``PUT /resource_providers/{uuid}/traits`` (1.6) after a GET: 200; 400
        for a trait placement does not know; 404; 409 for a generation that is
        not the present one, which is read and merged again, as is the 500 that
        placement gives for the same.

        :param create: create the custom traits that are missing
        :raises agent_errors.InvalidName: a name is outside the grammar
        :raises errors.NotFound: placement does not know these traits
        :raises errors.Conflict: others came between, each time
        :raises errors.Vanished: the provider is gone
        """
        wanted = _checked(some)
        return self._set_traits(one, lambda have: have | wanted, create=create)

    def remove_traits(
        self, one: codec.Listed, some: Iterable[str]
    ) -> ops.SetTraits:
        """Take traits from a provider; the others stay.

        Route, codes and errors are those of ``add_traits``.
        """
        gone = _checked(some)
        return self._set_traits(one, lambda have: have - gone, create=False)

    def set_traits(
        self, one: codec.Listed, some: Iterable[str], *, create: bool = False
    ) -> ops.SetTraits:
        """Give a provider these traits and no others.

        Route, codes and errors are those of ``add_traits``.
        """
        wanted = _checked(some)
        return self._set_traits(one, lambda _: wanted, create=create)

    def clear_traits(self, one: codec.Listed) -> ops.SetTraits:
        """Take all traits from a provider.

        Not by ``DELETE /resource_providers/{uuid}/traits``, which asks for no
        generation, but by a PUT of none; codes are those of ``add_traits``.
        """
        return self.set_traits(one, ())

    def check_traits(self, some: Iterable[str]) -> None:
        """Return when placement knows these traits.

        :raises errors.NotFound: it does not know all of them
        """
        known = self._known()
        missing = known.missing(some)
        if missing:
            raise known.not_found(missing)

    def _known(self) -> traits_api.Traits:
        return traits_api.Traits(self._service)

    def _set_traits(
        self,
        one: codec.Listed,
        edit: Callable[[frozenset[str]], frozenset[str]],
        *,
        create: bool,
    ) -> ops.SetTraits:
        return self._guarded.change(
            one,
            _TRAIT,
            lambda before: ops.SetTraits(
                uuid=one.uuid,
                name=one.name,
                names=edit(before),
                before=before,
            ),
            lambda op: self._admit(op.added, create=create),
        )

    def _admit(self, some: Iterable[str], *, create: bool) -> None:
        """Create those of these traits that are missing.

        :raises errors.NotFound: one is standard, or they are not to be created
        """
        known = self._known()
        missing = known.missing(some)
        wrong = trait_names.not_to_be_created(missing, create=create)
        if wrong:
            hint = trait_names.create_hint(wrong)
            raise errors.DoesNotExist(f'{known.not_found(wrong)}{hint}')
        for name in missing:
            known.add(name)


def _checked(some: Iterable[str]) -> frozenset[str]:
    return frozenset(
        trait_names.check(name) for name in names.collection(some)
    )
