# SPDX-License-Identifier: Apache-2.0
"""The first half of the Traits API, ``/traits``, as Python (seed 000).

Each method is one route; its docstring gives the status codes and the
microversion. The results have the meaning of seed 000, also where placement
now uses another spelling or code (``docs/traits-api.md`` has both). The client
keeps no state.
"""

from collections.abc import Iterable, Sequence

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import names

from .. import errors
from ..http.messages import codec, codec_writes, paths
from . import placement_names
from .values import trait_names

_SHOWN = 5  # providers that a message names


class Traits(placement_names.PlacementNames):
    """The traits that one placement service knows."""

    def names(
        self,
        starts_with: str | None = None,
        name_in: Iterable[str] | None = None,
        *,
        associated: bool | None = None,
    ) -> list[str]:
        """Return the names that meet all of these conditions, sorted.

        ``GET /traits`` (1.6): 200. It sends one request, more for a long
        ``name_in``, none for an empty one. Placement's operator for the first
        condition is ``startswith:``. Its ``_`` matches any character, and
        placement takes only one condition on names; so this method filters the
        answer.

        :param starts_with: the exact beginning of the names
        :param name_in: return only these names, as far as they exist
        :param associated: True for traits that a provider has, False for those
            that no provider has
        :raises agent_errors.InvalidName: a name or beginning is outside the
            grammar
        """
        if starts_with is not None:
            names.check_symbol(starts_with, 'the beginning of a trait')
        if associated is not None and not isinstance(associated, bool):
            raise agent_errors.InvalidName(
                f'associated is {error_text.excerpt(associated)}: use True, False '
                'or None'
            )
        if name_in is None:
            parts: Iterable[Sequence[str] | None] = [None]
        else:
            wanted = sorted(trait_names.check_all(name_in))
            parts = trait_names.in_queries(wanted)
        found: set[str] = set()
        for part in parts:
            path = _path(starts_with, part, associated=associated)
            known = codec.traits(self._service.get(path))
            found |= known if part is None else known & set(part)
        return sorted(n for n in found if n.startswith(starts_with or ''))

    def exists(self, name: str) -> bool:
        """Return True if placement knows a trait.

        ``GET /traits/{name}`` (1.6): 204 if it does, 404 if not.

        :raises agent_errors.InvalidName: the name is outside the grammar
        """
        path = paths.trait(trait_names.check(name))
        try:
            self._status(codec.Request(method='GET', path=path), {204})
        except errors.NotFound:
            return False
        return True

    def add(self, name: str) -> bool:
        """Create a custom trait; return True if it did not exist before.

        ``PUT /traits/{name}`` (1.6): 201 created, 204 it existed. For an
        invalid name and for a standard trait, ``InvalidName`` is raised and no
        request is sent. Placement would answer 400 to both; seed 000 specifies
        409 for a standard trait.

        :raises agent_errors.InvalidName: the name is that of a standard trait,
            does not begin with ``CUSTOM_``, or is outside the grammar
        """
        trait_names.check_custom(name, 'create')
        request = codec_writes.request(ops.CreateTrait(name=name), {})
        return self._status(request, {201, 204}) == 201

    def remove(self, name: str) -> None:
        """Remove a custom trait that no provider has.

        ``DELETE /traits/{name}`` (1.6): 204, 404, 409. For a standard trait,
        ``InvalidName`` is raised and no request is sent; placement would
        answer 400.

        :raises agent_errors.InvalidName: as for ``add``
        :raises errors.DoesNotExist: there is no such trait (404)
        :raises errors.InUse: providers have it (409); the message names them
        """
        trait_names.check_custom(name, 'delete')
        request = codec.Request(method='DELETE', path=paths.trait(name))
        try:
            self._status(request, {204})
        except errors.NotFound as exc:
            raise self.does_not_exist([name]) from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'trait {name} was not deleted: {self._holders_text(name)}'
            ) from exc

    def holders(self, name: str) -> list[codec.ListedProvider]:
        """Return the providers that have a trait, sorted by name.

        ``GET /resource_providers?required={name}`` (1.18): 200, 400.

        :raises errors.UnknownName: placement does not know the trait (400)
        """
        path = paths.by_trait(trait_names.check(name))
        rows = codec.sound_providers(self._service.get(path))
        return sorted(rows, key=lambda row: (row.name, row.uuid))

    def missing(self, traits: Iterable[str]) -> list[str]:
        """Return the names among these that placement does not know, sorted.

        ``GET /traits?name=in:…`` (1.6), as seed 000 proposes it.
        """
        wanted = trait_names.check_all(traits)
        return sorted(wanted - set(self.names(name_in=wanted)))

    def unknown(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return the traits that placement does not know, with suggestions.

        It sends the requests of ``missing``; only standard traits are
        suggested.
        """
        missing = self.missing(wanted)
        return {name: trait_names.did_you_mean(name) for name in missing}

    def does_not_exist(self, unknown: Iterable[str]) -> errors.DoesNotExist:
        """Return the error that names traits placement does not know.

        For a single name it also suggests a similar one, standard or custom.
        """
        missing = list(names.check_collection(unknown))
        if len(missing) != 1:
            return errors.DoesNotExist(
                f'placement knows no traits {", ".join(missing)}'
            )
        (name,) = missing
        if name in trait_names.standard():
            return errors.DoesNotExist(
                f'placement does not know the standard trait {name}: its '
                'os-traits is older than the one here ("compute-agent trait '
                'sync-check" shows all)'
            )
        custom = self.names(starts_with=names.CUSTOM_PREFIX)
        hint = trait_names.did_you_mean(name, custom)
        return errors.DoesNotExist(f'placement knows no trait {name}{hint}')

    def _status(self, request: codec.Request, known: set[int]) -> int:
        """Return the status of an answer, if the route has it.

        :raises errors.MalformedAnswer: the route has no such status
        """
        status = self._service.reply(request).status
        if status not in known:
            raise errors.MalformedAnswer(
                f'{request.method} {request.path}: HTTP {status}, which '
                'placement never answers here; is there something else at '
                'that address?'
            )
        return status

    def _holders_text(self, name: str) -> str:
        try:
            holders = self.holders(name)
        except errors.UnknownName:
            holders = []
        if not holders:
            return 'a provider had it a moment ago; try again'
        titles = [str(r) for r in holders[:_SHOWN]]
        more = len(holders) - len(titles)
        titles += [f'{more} more'] if more else []
        verb = 'has' if len(holders) == 1 else 'have'
        return f'{", ".join(titles)} {verb} it; remove it there first'


def _path(
    starts_with: str | None,
    name_in: Sequence[str] | None,
    *,
    associated: bool | None,
) -> str:
    """Return the path that lists traits; ``name_in`` goes before the prefix."""
    query = []
    if name_in is not None:
        query.append(f'name=in:{",".join(name_in)}')
    elif starts_with is not None:
        query.append(f'name=startswith:{starts_with}')
    if associated is not None:
        query.append(f'associated={str(associated).lower()}')
    return f'{paths.TRAITS}?{"&".join(query)}' if query else paths.TRAITS
