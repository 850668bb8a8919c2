# SPDX-License-Identifier: Apache-2.0
"""The Traits API's first half, ``/traits``, as Python (seed 000).

Each method is one route, with its codes and the microversion that has it; what
seed 000 means is what comes back, also where placement now spells or answers
it otherwise (``docs/traits-api.md`` has both). It remembers nothing.
"""

from collections.abc import Iterable, Iterator, Sequence

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.tree import names, provider

from .. import errors
from ..http import codec, placement
from ..operations import operations as ops
from . import trait_names

_IN_ONE_QUERY = 2000  # characters of names: servers take 4096 of a request
_SHOWN = 5  # providers that a message names


class Traits:
    """The traits that one placement service knows."""

    def __init__(self, service: placement.Placement) -> None:
        self._service = service

    def names(
        self,
        starts_with: str | None = None,
        name_in: Iterable[str] | None = None,
        *,
        associated: bool | None = None,
    ) -> list[str]:
        """Return the names that meet all of these conditions, sorted.

        ``GET /traits`` (1.6), 200: one request, more for a long ``name_in``,
        none for an empty one. Placement spells the first condition
        ``startswith:``, takes its ``_`` for any character and no second
        condition on names: so the answer is sifted here.

        :param starts_with: how a name begins, to the letter
        :param name_in: the names of which those are wanted that exist
        :param associated: whether some provider has it
        :raises errors.InvalidName: a name or beginning is outside the grammar
        """
        if starts_with is not None:
            names.check_symbol(starts_with, 'the beginning of a trait')
        if associated is not None and not isinstance(associated, bool):
            raise agent_errors.InvalidName(
                f'associated is {error_text.excerpt(associated)}: say True, False or '
                'None'
            )
        if name_in is None:
            parts: Iterable[Sequence[str] | None] = [None]
        else:
            some = names.collection(name_in)
            wanted = sorted({trait_names.check(name) for name in some})
            parts = _parts(wanted)
        found: set[str] = set()
        for part in parts:
            path = _path(starts_with, part, associated=associated)
            known = codec.traits(self._service.get(path))
            found |= known if part is None else known & set(part)
        return sorted(n for n in found if n.startswith(starts_with or ''))

    def exists(self, name: str) -> bool:
        """Return whether placement knows a trait.

        ``GET /traits/{name}`` (1.6): 204 yes, 404 no.

        :raises errors.InvalidName: the name is outside the grammar
        """
        path = codec.trait(trait_names.check(name))
        try:
            self._status(codec.Request(method='GET', path=path), {204})
        except errors.NotFound:
            return False
        return True

    def add(self, name: str) -> bool:
        """Create a custom trait; return whether it was not there before.

        ``PUT /traits/{name}`` (1.6): 201 created, 204 was there. The 400 for a
        name that is none, and seed 000's 409 for a standard one (placement
        answers 400), are the error that is raised before a request.

        :raises errors.InvalidName: it is a standard trait, or begins without
            ``CUSTOM_``, or is outside the grammar
        """
        trait_names.check_custom(name, 'add')
        request = codec.request(ops.CreateTrait(name=name), None)
        return self._status(request, {201, 204}) == 201

    def remove(self, name: str) -> None:
        """Remove a custom trait that no provider has.

        ``DELETE /traits/{name}`` (1.6): 204 done, 404, 409. The 400 for a
        standard trait is the error that is raised before a request.

        :raises errors.InvalidName: as for ``add``
        :raises errors.NotFound: there is no such trait (404)
        :raises errors.InUse: providers have it (409); they are named
        """
        trait_names.check_custom(name, 'remove')
        request = codec.Request(method='DELETE', path=codec.trait(name))
        try:
            self._status(request, {204})
        except errors.NotFound as exc:
            raise self.not_found([name]) from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'trait {name} is not removed: {self._in_use(name)}; take it '
                'from them first'
            ) from exc

    def holders(self, name: str) -> list[codec.Listed]:
        """Return the providers that have a trait, sorted by name.

        ``GET /resource_providers?required={name}`` (1.18): 200, 400.

        :raises errors.UnknownName: placement does not know the trait (400)
        """
        path = codec.requiring(trait_names.check(name))
        rows = codec.listed(self._service.get(path))
        return sorted(rows, key=lambda row: (row.name, row.uuid))

    def missing(self, some: Iterable[str]) -> list[str]:
        """Return those of these names that placement does not know.

        ``GET /traits?name=in:…`` (1.6), the use that seed 000 gives for it.
        """
        wanted = {trait_names.check(n) for n in names.collection(some)}
        return sorted(wanted - set(self.names(name_in=wanted)))

    def not_found(self, missing: Sequence[str]) -> errors.DoesNotExist:
        """Return the error that names traits placement does not know.

        Of one trait it also says which was perhaps meant.
        """
        some = list(names.collection(missing))
        if len(some) != 1:
            return errors.DoesNotExist(
                f'placement knows no traits {", ".join(some)}'
            )
        (name,) = some
        if name in trait_names.standard():
            return errors.DoesNotExist(
                f'placement does not know the standard trait {name}: its '
                'os-traits is older than the one here ("compute-agent trait '
                'sync-check" shows all)'
            )
        custom = self.names(starts_with=names.CUSTOM_PREFIX)
        meant = trait_names.did_you_mean(name, custom)
        return errors.DoesNotExist(f'placement knows no trait {name}{meant}')

    def _status(self, request: codec.Request, known: set[int]) -> int:
        """Return which of the answers that the route has came."""
        status = self._service.reply(request).status
        if status not in known:
            raise errors.MalformedAnswer(
                f'{request.method} {request.path}: HTTP {status}, which '
                'placement never answers here; is there something else at '
                'that address?'
            )
        return status

    def _in_use(self, name: str) -> str:
        try:
            holders = self.holders(name)
        except errors.UnknownName:
            holders = []
        some = [provider.title(r.name, r.uuid) for r in holders[:_SHOWN]]
        more = len(holders) - len(some)
        some += [f'{more} more'] if more else []
        return f'{", ".join(some) or "some provider"} has it'


def _path(
    starts_with: str | None,
    name_in: Sequence[str] | None,
    *,
    associated: bool | None,
) -> str:
    """Return the path that lists traits; it can hold one of the first two."""
    query = []
    if name_in is not None:
        query.append(f'name=in:{",".join(name_in)}')
    elif starts_with is not None:
        query.append(f'name=startswith:{starts_with}')
    if associated is not None:
        query.append(f'associated={str(associated).lower()}')
    return f'{codec.TRAITS}?{"&".join(query)}' if query else codec.TRAITS


def _parts(some: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield names in parts that go into one query each."""
    part: list[str] = []
    length = 0
    for name in some:
        if part and length + len(name) > _IN_ONE_QUERY:
            yield part
            part, length = [], 0
        part.append(name)
        length += len(name) + 1
    if part:
        yield part
