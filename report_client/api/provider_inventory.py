# SPDX-License-Identifier: Apache-2.0
"""Read and change the inventories of a provider.

Every change is an optimistic update (``optimistic_update.py``).
"""

from collections.abc import Iterable, Mapping, Sequence

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, names, provider

from .. import errors
from ..http import codec, codec_writes, paths
from . import optimistic_update, provider_details, trait_names

_INVENTORY = assertion.Kind.INVENTORY

Fields = Mapping[str, int | float]


class ProviderInventories(optimistic_update.ProviderContents):
    """Reads and changes the inventories of providers."""

    def inventories(
        self, target: codec.ListedProvider
    ) -> dict[str, inventory.Inventory]:
        """Return a provider's inventories by resource class.

        ``GET /resource_providers/{uuid}/inventories`` (1.0): 200, 404.

        :raises errors.NotFound: the provider was deleted (404)
        """
        return dict(self._update.contents(target, _INVENTORY)[1])

    def set_inventory(
        self,
        target: codec.ListedProvider,
        records: Mapping[str, Fields],
        *,
        create: bool = False,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetInventories]:
        """Set fields of inventories; other fields and classes stay.

        ``PUT /resource_providers/{uuid}/inventories`` (1.26) after a GET: 200;
        400 for a resource class that placement does not know; 404; 409 for an
        outdated generation, after which it reads and merges again.

        :param records: resource class → field of ``Inventory`` → value
        :param create: create missing custom classes
        :param generation: write only under this generation, and only once
        :return: the operation, and the generation after it
        :raises agent_errors.TreeError: a value is out of its range, a new
            class has no total, or ``records`` has another shape
        :raises agent_errors.InvalidName: a class is outside the grammar
        :raises errors.DoesNotExist: placement does not know these classes
        :raises errors.Outdated: the provider does not have that generation
        :raises errors.Conflict: other writers changed it during every attempt
        :raises errors.NotFound: the provider was deleted
        """
        _check(records)

        def edit(before: ops.Inventories) -> ops.SetInventories:
            merged = {rc: _merged(rc, before, records[rc]) for rc in records}
            return ops.SetInventories(
                uuid=target.uuid,
                name=target.name,
                inventories={**before, **merged},
                before=before,
            )

        return self._update.change(
            target,
            _INVENTORY,
            edit,
            lambda op: self._create_classes(op.added, create=create),
            generation,
        )

    def remove_inventory(
        self,
        target: codec.ListedProvider,
        classes: Iterable[str],
        *,
        generation: int | None = None,
    ) -> optimistic_update.Change[ops.SetInventories]:
        """Remove inventories from a provider; its other classes stay.

        Route, codes and errors are those of ``set_inventory``: ``DELETE
        …/inventories/{class}`` takes no generation. 409 also if a class is
        allocated; then none is removed.

        :raises errors.InUse: a class is allocated; the message names consumers
        """
        unwanted = {
            names.check_symbol(rc, 'resource class')
            for rc in names.check_collection(classes)
        }

        def edit(before: ops.Inventories) -> ops.SetInventories:
            return ops.SetInventories(
                uuid=target.uuid,
                name=target.name,
                inventories={
                    rc: one for rc, one in before.items() if rc not in unwanted
                },
                before=before,
            )

        try:
            return self._update.change(
                target, _INVENTORY, edit, expected=generation
            )
        except errors.InUse as exc:
            raise errors.InUse(
                f'{provider.title(target.name, target.uuid)}: nothing was '
                f'removed: {self._holders(target, unwanted)}'
            ) from exc

    def _holders(
        self, target: codec.ListedProvider, classes: Iterable[str]
    ) -> str:
        """Return the consumers that have allocations of these classes."""
        with optimistic_update.naming_provider(target):
            answer = self._service.get(paths.allocations(target.uuid))
        _, consumers = codec.allocated(answer)
        held = {rc: consumers[rc] for rc in classes if rc in consumers}
        if not held:
            return 'it was allocated a moment ago; try again'
        uuids = sorted({uuid for users in held.values() for uuid in users})
        return (
            f'{", ".join(sorted(held))} is allocated to '
            f'{provider_details.shortened(uuids)}'
        )

    def check_classes(self, classes: Iterable[str]) -> None:
        """Check that placement knows these resource classes.

        ``GET /resource_classes`` (1.2): 200.

        :raises errors.DoesNotExist: placement does not know all of them
        """
        wanted = {
            names.check_symbol(rc, 'resource class')
            for rc in names.check_collection(classes)
        }
        known = self._classes()
        missing = sorted(wanted - known)
        if missing:
            raise _no_class(missing, known)

    def unknown_classes(self, classes: Iterable[str]) -> dict[str, str]:
        """Return the classes that placement does not know, with suggestions.

        ``GET /resource_classes`` (1.2): 200.

        :return: class → "; did you mean …?", or '' if no class is similar
        """
        known = self._classes()
        return {
            rc: _suggestion(rc, known)
            for rc in names.check_collection(classes)
            if rc not in known
        }

    def _create_classes(self, classes: Iterable[str], *, create: bool) -> None:
        """Create the missing classes among these.

        ``PUT /resource_classes/{name}`` (1.7): 201, 204.

        :raises errors.DoesNotExist: a missing class is a standard class, or
            ``create`` is False
        """
        known = self._classes()
        missing = sorted(set(classes) - known)
        impossible = trait_names.not_creatable(missing, create=create)
        if impossible:
            hint = trait_names.create_hint(impossible)
            raise errors.DoesNotExist(f'{_no_class(impossible, known)}{hint}')
        for name in missing:
            operation = ops.CreateResourceClass(name=name)
            self._service.send(codec_writes.request(operation, {}))

    def _classes(self) -> frozenset[str]:
        return codec.resource_classes(
            self._service.get(paths.RESOURCE_CLASSES)
        )


def _check(records: object) -> None:
    """Check that the argument is resource class → fields.

    :raises agent_errors.TreeError: it has another shape
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


def _no_class(
    missing: Sequence[str], known: frozenset[str]
) -> errors.DoesNotExist:
    hint = _suggestion(missing[0], known) if len(missing) == 1 else ''
    listed = ', '.join(missing)
    return errors.DoesNotExist(
        f'placement knows no resource class {listed}{hint}'
    )


def _suggestion(rc: str, known: frozenset[str]) -> str:
    near = trait_names.nearest(rc, known)
    return f'; did you mean {near}?' if near else ''


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
