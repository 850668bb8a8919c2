# SPDX-License-Identifier: Apache-2.0
"""What a provider holds, as Python: traits, aggregates, inventories.

Each method says its route, the codes it can meet and the microversion that
has it. A change merges what is there now and loses no change of another
writer (``guarded.py``); it returns the operation that was carried out, or that
would change nothing and was not sent. It remembers nothing.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from compute_agent import assertion, inventory, names
from compute_agent import errors as agent_errors

from . import errors, guarded, placement, trait_names, traits, wire
from . import operations as ops

_TRAIT = assertion.Kind.TRAIT
_AGGREGATE = assertion.Kind.AGGREGATE
_INVENTORY = assertion.Kind.INVENTORY

Fields = Mapping[str, int | float]
Names = frozenset[str]


class Contents:
    """What the providers of one placement service hold.

    :param sleep: waits for so many seconds before another attempt
    """

    def __init__(
        self,
        service: placement.Placement,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._guarded = guarded.Guarded(service, sleep)
        self._known = traits.Traits(service)

    def traits(self, one: wire.Listed) -> frozenset[str]:
        """Return a provider's traits.

        ``GET /resource_providers/{uuid}/traits`` (1.6): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return frozenset(self._guarded.contents(one, _TRAIT)[1])

    def inventories(self, one: wire.Listed) -> dict[str, inventory.Inventory]:
        """Return a provider's inventories by resource class.

        ``GET /resource_providers/{uuid}/inventories`` (1.0): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return dict(self._guarded.contents(one, _INVENTORY)[1])

    def aggregates(self, one: wire.Listed) -> frozenset[str]:
        """Return the uuids of a provider's aggregates.

        ``GET /resource_providers/{uuid}/aggregates`` (1.19): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return frozenset(self._guarded.contents(one, _AGGREGATE)[1])

    def add_traits(
        self, one: wire.Listed, some: Iterable[str], *, create: bool = False
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
        self, one: wire.Listed, some: Iterable[str]
    ) -> ops.SetTraits:
        """Take traits from a provider; the others stay.

        Route, codes and errors are those of ``add_traits``.
        """
        gone = _checked(some)
        return self._set_traits(one, lambda have: have - gone, create=False)

    def set_traits(
        self, one: wire.Listed, some: Iterable[str], *, create: bool = False
    ) -> ops.SetTraits:
        """Give a provider these traits and no others.

        Route, codes and errors are those of ``add_traits``.
        """
        wanted = _checked(some)
        return self._set_traits(one, lambda _: wanted, create=create)

    def clear_traits(self, one: wire.Listed) -> ops.SetTraits:
        """Take all traits from a provider.

        Not by ``DELETE /resource_providers/{uuid}/traits``, which asks for no
        generation, but by a PUT of none; codes are those of ``add_traits``.
        """
        return self.set_traits(one, ())

    def add_aggregates(
        self, one: wire.Listed, some: Iterable[str]
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
        self, one: wire.Listed, some: Iterable[str]
    ) -> ops.SetAggregates:
        """Take a provider out of aggregates; codes as ``add_aggregates``."""
        gone = names.check_aggregates(some)
        return self._set_aggregates(one, lambda have: have - gone)

    def set_inventory(
        self,
        one: wire.Listed,
        records: Mapping[str, Fields],
        *,
        create: bool = False,
    ) -> ops.SetInventories:
        """Set fields of inventories; what is not named stays as it is.

        ``PUT /resource_providers/{uuid}/inventories`` (1.26) after a GET: 200;
        400 for a resource class placement does not know; 404; 409 for another
        generation, which is read and merged again.

        :param records: resource class → fields, of those in ``Inventory``
        :param create: create the custom classes that are missing
        :raises agent_errors.TreeError: a value is out of its range, or a class
            that is new has no total
        :raises agent_errors.InvalidName: a class is outside the grammar
        :raises errors.NotFound: placement does not know these classes
        :raises errors.Conflict: others came between, each time
        :raises errors.Vanished: the provider is gone
        """
        for rc in records:
            names.check_symbol(rc, 'resource class')

        def edit(before: ops.Inventories) -> ops.SetInventories:
            merged = {rc: _merged(rc, before, records[rc]) for rc in records}
            return ops.SetInventories(
                uuid=one.uuid,
                name=one.name,
                inventories={**before, **merged},
                before=before,
            )

        return self._guarded.change(
            one,
            _INVENTORY,
            edit,
            lambda op: self._admit_classes(op.added, create=create),
        )

    def check_traits(self, some: Iterable[str]) -> None:
        """Return when placement knows these traits.

        :raises errors.NotFound: it does not know all of them
        """
        missing = self._known.missing(some)
        if missing:
            raise self._known.not_found(missing)

    def check_classes(self, some: Iterable[str]) -> None:
        """Return when placement knows these resource classes.

        :raises errors.NotFound: it does not know all of them
        """
        known = self._classes()
        missing = sorted(set(trait_names.collection(some)) - known)
        if missing:
            raise _no_class(missing, known)

    def _set_traits(
        self,
        one: wire.Listed,
        edit: Callable[[Names], Names],
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
        missing = self._known.missing(some)
        wrong = _not_to_be_created(missing, create=create)
        if wrong:
            hint = _create_hint(wrong)
            raise errors.NotFound(f'{self._known.not_found(wrong)}{hint}')
        for name in missing:
            self._known.add(name)

    def _admit_classes(self, some: Iterable[str], *, create: bool) -> None:
        """Create those of these classes that are missing.

        ``PUT /resource_classes/{name}`` (1.7): 201, 204.

        :raises errors.NotFound: one is standard, or they are not to be created
        """
        known = self._classes()
        missing = sorted(set(some) - known)
        wrong = _not_to_be_created(missing, create=create)
        if wrong:
            hint = _create_hint(wrong)
            raise errors.NotFound(f'{_no_class(wrong, known)}{hint}')
        for name in missing:
            operation = ops.CreateResourceClass(name=name)
            self._service.send(wire.request(operation, None))

    def _classes(self) -> Names:
        return wire.resource_classes(self._service.get(wire.RESOURCE_CLASSES))

    def _set_aggregates(
        self, one: wire.Listed, edit: Callable[[Names], Names]
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


def _checked(some: Iterable[str]) -> Names:
    names_ = trait_names.collection(some)
    return frozenset(trait_names.check(name) for name in names_)


def _not_to_be_created(missing: Sequence[str], *, create: bool) -> list[str]:
    return [n for n in missing if not (create and names.is_custom(n))]


def _create_hint(missing: Sequence[str]) -> str:
    """Return which of these --create would create, as the end of a line."""
    custom = [name for name in missing if names.is_custom(name)]
    if not custom:
        return ''
    if len(custom) < len(missing):
        return f'; --create creates {", ".join(custom)}'
    return f'; --create creates {"it" if len(custom) == 1 else "them"}'


def _no_class(missing: Sequence[str], known: Names) -> errors.NotFound:
    meant = [trait_names.nearest(rc, known) for rc in missing]
    hint = (
        f'; did you mean {meant[0]}?' if len(meant) == 1 and meant[0] else ''
    )
    what = ', '.join(missing)
    return errors.NotFound(f'placement knows no resource class {what}{hint}')


def _merged(
    rc: str, before: ops.Inventories, fields: Fields
) -> inventory.Inventory:
    """Return a record with these fields, the others as they are.

    :raises agent_errors.TreeError: a value is out of its range
    """
    there = before[rc].to_record() if rc in before else {}
    try:
        return inventory.Inventory.from_record({**there, **fields})
    except agent_errors.TreeError as exc:
        raise agent_errors.TreeError(f'{rc}: {exc}') from exc
