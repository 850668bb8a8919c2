# SPDX-License-Identifier: Apache-2.0
"""Read and change the traits, aggregates and inventories of a provider.

Placement replaces contents of one kind as a whole, and only if the request has
the provider's current generation. So a change is an optimistic update: it
reads, merges, and writes under the generation that it read, and starts again
if another writer changed the provider in between. Placement checks the
generation of a PUT of contents, but not of a DELETE; so even an empty
collection is written by a PUT. ``content_kinds.py`` has the table of kinds.
"""

import contextlib
import dataclasses
import enum
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import tenacity

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, names

from .. import errors
from ..http import placement
from ..http.messages import codec, codec_writes, paths
from .content_kinds import (
    AGGREGATES,
    INVENTORIES,
    TRAITS,
    ContentKind,
    NameKind,
)

ATTEMPTS = 30
FIRST_WAIT = 0.05  # seconds; a wait is random, from 0 to twice the last limit
LONGEST_WAIT = 2  # seconds

Contents = frozenset[str] | ops.Inventories
Fields = Mapping[str, int | float]

_Content = TypeVar('_Content')
_Operation = TypeVar('_Operation', bound=ops.SetOperation)
_Operation_co = TypeVar(
    '_Operation_co', bound=ops.SetOperation, covariant=True
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change(Generic[_Operation_co]):
    """A change of a provider's contents that was made, or was not needed.

    :ivar generation: the provider's generation after the change
    :ivar is_change: True if something was written
    """

    operation: _Operation_co
    generation: int
    is_change: bool

    @property
    def added(self) -> frozenset[str]:
        """The names that the provider did not have."""
        return self.operation.added

    @property
    def removed(self) -> frozenset[str]:
        """The names that the provider has no more."""
        return self.operation.removed


class Amend(enum.Enum):
    """The inventories of a provider that stay when others of it are set."""

    #: Keep the other classes, and the other fields of the given classes.
    FIELDS = 'fields'
    #: Keep the other classes; fields that are not given get the defaults.
    CLASSES = 'classes'
    #: Keep nothing: the provider then has only the given classes.
    NOTHING = 'nothing'


class ProviderContents:
    """Reads and changes the contents of providers.

    :param sleep: called with seconds before another attempt
    """

    def __init__(
        self,
        service: placement.Placement,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = service
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_random_exponential(
                multiplier=FIRST_WAIT, max=LONGEST_WAIT
            ),
            retry=tenacity.retry_if_exception_type(
                (errors.Conflict, errors.UnknownName)
            ),
            sleep=sleep,
            reraise=True,
        )

    # --- read -----------------------------------------------------------------

    def contents(
        self, target: codec.ListedProvider, kind: assertion.Kind
    ) -> tuple[int, Contents]:
        """Return a provider's generation, and one kind of its contents.

        ``GET /resource_providers/{uuid}/{traits|aggregates|inventories}``
        (1.6, 1.19, 1.0): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        return self._contents(target, kind)

    def traits(self, target: codec.ListedProvider) -> frozenset[str]:
        """Return a provider's traits; codes and errors as ``contents``."""
        return frozenset(self._contents(target, TRAITS.kind)[1])

    def aggregates(self, target: codec.ListedProvider) -> frozenset[str]:
        """Return the uuids of a provider's aggregates, as ``contents``.

        In placement an aggregate is only a uuid. An aggregate exists as soon
        as a provider is a member.
        """
        return frozenset(self._contents(target, AGGREGATES.kind)[1])

    def inventories(
        self, target: codec.ListedProvider
    ) -> dict[str, inventory.Inventory]:
        """Return a provider's inventories by resource class, as ``contents``."""
        return dict(self._contents(target, INVENTORIES.kind)[1])

    def unknown(
        self, kind: ContentKind[Any, ops.SetOperation], wanted: Iterable[str]
    ) -> dict[str, str]:
        """Return the names that placement does not know, with suggestions.

        :return: name → "; did you mean …?", or '' if no name is similar
        """
        if kind.registry is None:
            return {}
        return kind.registry(self._service).unknown(wanted)

    # --- change contents of any kind ------------------------------------------

    def add(
        self,
        target: codec.ListedProvider,
        kind: NameKind[_Operation],
        added: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> Change[_Operation]:
        """Add names to a provider; its other names stay.

        ``PUT /resource_providers/{uuid}/{traits|aggregates}`` (1.6, 1.19)
        after a GET: 200; 400 for a trait that placement does not know; 404;
        409 for an outdated generation, or 500 if placement detects that late.
        After these two it reads and merges again.

        :param create: create missing custom traits
        :param generation: write only under this generation, and only once
        :return: the operation, and the generation after it
        :raises agent_errors.InvalidName: a name is outside the grammar
        :raises errors.DoesNotExist: placement does not know these traits
        :raises errors.Outdated: the provider does not have that generation
        :raises errors.Conflict: other writers changed it during every attempt
        :raises errors.NotFound: the provider was deleted
        """
        wanted = kind.check(added)
        return self._change(
            target,
            kind,
            lambda before: before | wanted,
            create=create,
            generation=generation,
        )

    def replace(
        self,
        target: codec.ListedProvider,
        kind: NameKind[_Operation],
        wanted: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> Change[_Operation]:
        """Replace all names of a provider, with the errors of ``add``."""
        after = kind.check(wanted)
        return self._change(
            target,
            kind,
            lambda _: after,
            create=create,
            generation=generation,
        )

    def remove(
        self,
        target: codec.ListedProvider,
        kind: ContentKind[_Content, _Operation],
        removed: Iterable[str],
        *,
        generation: int | None = None,
    ) -> Change[_Operation]:
        """Remove names from a provider; its other names stay.

        Codes and errors are those of ``add``; 409 also if a resource class is
        allocated, and then none is removed. It sends a PUT, because ``DELETE
        …/inventories/{class}`` takes no generation.

        :raises errors.InUse: a class is allocated; the message names consumers
        """
        unwanted = kind.check(removed)
        try:
            return self._change(
                target,
                kind,
                lambda before: kind.without(before, unwanted),
                generation=generation,
            )
        except errors.InUse as exc:
            raise errors.InUse(
                f'{target}: nothing was removed: '
                f'{self._holders(target, unwanted)}'
            ) from exc

    def set_inventory(
        self,
        target: codec.ListedProvider,
        records: Mapping[str, Fields],
        *,
        amend: Amend = Amend.FIELDS,
        create: bool = False,
        generation: int | None = None,
        dry_run: bool = False,
    ) -> Change[ops.SetInventories]:
        """Set fields of inventories; ``amend`` says what stays.

        ``PUT /resource_providers/{uuid}/inventories`` (1.26) after a GET: 200;
        400 for a resource class that placement does not know; 404; 409 for an
        outdated generation, after which it reads and merges again.

        :param records: resource class → field of ``Inventory`` → value
        :param create: create missing custom classes
        :param dry_run: write nothing, and return what would be written
        :raises agent_errors.TreeError: a value is out of its range, a new
            class has no total, or ``records`` has another shape
        :raises errors.InUse: a class that would go is allocated; the message
            names consumers
        :raises report_client.errors: as ``add``
        """
        _check_records(records)

        def edit(before: ops.Inventories) -> ops.Inventories:
            fields = before if amend is Amend.FIELDS else {}
            return {
                **({} if amend is Amend.NOTHING else before),
                **{rc: _merged(rc, fields, records[rc]) for rc in records},
            }

        try:
            return self._change(
                target,
                INVENTORIES,
                edit,
                create=create,
                generation=generation,
                dry_run=dry_run,
            )
        except errors.InUse as exc:
            gone = self.inventories(target).keys() - records.keys()
            raise errors.InUse(
                f'{target}: nothing was written: {self._holders(target, gone)}'
            ) from exc

    # --- the same for traits ---------------------------------------------------

    def add_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> Change[ops.SetTraits]:
        """Add traits to a provider; see ``add``."""
        return self.add(
            target, TRAITS, traits, create=create, generation=generation
        )

    def remove_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        generation: int | None = None,
    ) -> Change[ops.SetTraits]:
        """Remove traits from a provider; see ``remove``."""
        return self.remove(target, TRAITS, traits, generation=generation)

    def set_traits(
        self,
        target: codec.ListedProvider,
        traits: Iterable[str],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> Change[ops.SetTraits]:
        """Replace all traits of a provider with these; see ``replace``."""
        return self.replace(
            target, TRAITS, traits, create=create, generation=generation
        )

    def clear_traits(
        self, target: codec.ListedProvider, *, generation: int | None = None
    ) -> Change[ops.SetTraits]:
        """Remove all traits from a provider; see ``replace``."""
        return self.replace(target, TRAITS, (), generation=generation)

    # --- the optimistic update ------------------------------------------------

    def _change(
        self,
        target: codec.ListedProvider,
        kind: ContentKind[_Content, _Operation],
        edit: Callable[[_Content], _Content],
        *,
        create: bool = False,
        generation: int | None = None,
        dry_run: bool = False,
    ) -> Change[_Operation]:
        """Return the change, made or not needed.

        If the edit changes nothing, nothing is sent.

        :param edit: returns the wanted contents for the current ones
        :param create: create custom names that placement does not know
        :param generation: the only generation under which to write
        :param dry_run: send nothing
        """

        def attempt() -> Change[_Operation]:
            now, before = self._contents(target, kind.kind)
            if generation not in {None, now}:
                why = f'has generation {now} now'
                raise _outdated(target, generation, why)
            after = edit(before)
            wanted = kind.operation(target, after, before)
            if dry_run or after == before:
                return Change(
                    operation=wanted, generation=now, is_change=False
                )
            try:
                return self._send(target, wanted, now)
            except errors.UnknownName:
                if kind.registry is not None and wanted.added:
                    kind.registry(self._service).create_missing(
                        wanted.added, create=create
                    )
                raise
            except errors.Conflict as exc:
                if generation is None:
                    raise
                why = 'was changed by another writer just now'
                raise _outdated(target, generation, why) from exc

        try:
            return self._retrying(attempt)
        except (errors.Conflict, errors.UnknownName) as exc:
            raise errors.Conflict(
                f'{target}: nothing was written, because other writers '
                f'changed it during each of {ATTEMPTS} attempts; try again '
                f'({exc})'
            ) from exc

    def _send(
        self, target: codec.ListedProvider, wanted: _Operation, generation: int
    ) -> Change[_Operation]:
        with naming_provider(target):
            answer = self._service.send(
                codec_writes.request(wanted, {target.uuid: generation})
            )
        return Change(
            operation=wanted,
            generation=codec.generation_after(answer),
            is_change=True,
        )

    def _contents(
        self, target: codec.ListedProvider, kind: assertion.Kind
    ) -> tuple[int, Any]:
        path = paths.collection(check_provider(target).uuid, kind)
        return codec.contents(kind, self._read(target, path))

    def _allocated(
        self, target: codec.ListedProvider
    ) -> tuple[int, Mapping[str, frozenset[str]]]:
        """Return the generation, and the consumers of each resource class.

        ``GET /resource_providers/{uuid}/allocations`` (1.0): 200, 404.
        """
        path = paths.allocations(target.uuid)
        return codec.allocated(self._read(target, path))

    def _read(self, target: codec.ListedProvider, path: str) -> Any:
        with naming_provider(target):
            return self._service.get(path)

    def _holders(
        self, target: codec.ListedProvider, classes: Iterable[str]
    ) -> str:
        """Return the consumers that have allocations of these classes."""
        _, consumers = self._allocated(target)
        held = {rc: consumers[rc] for rc in classes if rc in consumers}
        if not held:
            return 'it was allocated a moment ago; try again'
        return f'{", ".join(sorted(held))} is allocated to {listed(held)}'


def listed(consumers: Mapping[str, frozenset[str]]) -> str:
    """Return the first few consumers of some classes, as text."""
    return error_text.listed(frozenset().union(*consumers.values()))


def check_provider(target: codec.ListedProvider) -> codec.ListedProvider:
    """Return the argument if it is a provider of a list.

    :raises agent_errors.InvalidName: the argument is something else, perhaps a
        name
    """
    if not isinstance(target, codec.ListedProvider):
        raise agent_errors.InvalidName(
            f'{error_text.excerpt(target)} is not a provider: Providers.find() returns the '
            'provider with a name or uuid'
        )
    return target


@contextlib.contextmanager
def naming_provider(target: codec.ListedProvider) -> Iterator[None]:
    """Add the provider's name to the error for a missing provider."""
    try:
        yield
    except errors.UnknownName:
        raise  # the provider exists
    except errors.NotFound as exc:
        raise errors.NotFound(f'{target} is gone') from exc


def _outdated(
    target: codec.ListedProvider, expected: int | None, why: str
) -> errors.Outdated:
    return errors.Outdated(
        f'{target} {why}: nothing was written under generation {expected}; '
        'read the provider again'
    )


def _check_records(records: object) -> None:
    """Check that the argument is resource class → fields.

    :raises agent_errors.TreeError: the argument has another shape
    :raises agent_errors.InvalidName: a class is outside the grammar
    """
    if not isinstance(records, Mapping):
        raise agent_errors.TreeError(
            f'{error_text.excerpt(records)} is not a mapping of inventories: give resource class → '
            "fields, for example {'VCPU': {'total': 8}}"
        )
    for rc, fields in records.items():
        names.check_symbol(rc, 'resource class')
        if not isinstance(fields, Mapping):
            raise agent_errors.TreeError(
                f'{rc}: {error_text.excerpt(fields)} is not a mapping of fields: '
                "give them by name, for example {'total': 8}"
            )


def _merged(
    rc: str, before: ops.Inventories, fields: Fields
) -> inventory.Inventory:
    """Return a record with these fields changed.

    :raises agent_errors.TreeError: a value is out of its range
    """
    current = before[rc].to_record() if rc in before else {}
    try:
        return inventory.Inventory.from_record({**current, **fields})
    except agent_errors.TreeError as exc:
        raise agent_errors.TreeError(f'{rc}: {exc}') from exc
