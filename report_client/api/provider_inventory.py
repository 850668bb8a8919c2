# SPDX-License-Identifier: Apache-2.0
"""The inventories of one provider, as Python, and the classes they are of.

What the methods share is said in ``contents.py``.
"""

from collections.abc import Iterable, Mapping, Sequence

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.tree import assertion, inventory, names

from .. import errors
from ..http import codec
from ..operations import operations as ops
from . import optimistic_update, trait_names

_INVENTORY = assertion.Kind.INVENTORY

Fields = Mapping[str, int | float]


class ProviderInventories(optimistic_update.Changes):
    """The inventories that the providers of one placement service have."""

    def inventories(self, one: codec.Listed) -> dict[str, inventory.Inventory]:
        """Return a provider's inventories by resource class.

        ``GET /resource_providers/{uuid}/inventories`` (1.0): 200, 404.

        :raises errors.Vanished: the provider is gone (404)
        """
        return dict(self._guarded.contents(one, _INVENTORY)[1])

    def set_inventory(
        self,
        one: codec.Listed,
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
            that is new has no total, or no fields came
        :raises agent_errors.InvalidName: a class is outside the grammar
        :raises errors.NotFound: placement does not know these classes
        :raises errors.Conflict: others came between, each time
        :raises errors.Vanished: the provider is gone
        """
        _check(records)

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

    def check_classes(self, some: Iterable[str]) -> None:
        """Return when placement knows these resource classes.

        :raises errors.NotFound: it does not know all of them
        """
        wanted = {
            names.check_symbol(rc, 'resource class')
            for rc in names.collection(some)
        }
        known = self._classes()
        missing = sorted(wanted - known)
        if missing:
            raise _no_class(missing, known)

    def _admit_classes(self, some: Iterable[str], *, create: bool) -> None:
        """Create those of these classes that are missing.

        ``PUT /resource_classes/{name}`` (1.7): 201, 204.

        :raises errors.NotFound: one is standard, or they are not to be created
        """
        known = self._classes()
        missing = sorted(set(some) - known)
        wrong = trait_names.not_to_be_created(missing, create=create)
        if wrong:
            hint = trait_names.create_hint(wrong)
            raise errors.DoesNotExist(f'{_no_class(wrong, known)}{hint}')
        for name in missing:
            operation = ops.CreateResourceClass(name=name)
            self._service.send(codec.request(operation, None))

    def _classes(self) -> frozenset[str]:
        return codec.resource_classes(
            self._service.get(codec.RESOURCE_CLASSES)
        )


def _check(records: object) -> None:
    """Refuse what is not resource class → fields.

    :raises agent_errors.TreeError: it has another shape
    :raises agent_errors.InvalidName: a class is outside the grammar
    """
    if not isinstance(records, Mapping):
        raise agent_errors.TreeError(
            f'{error_text.excerpt(records)} is no inventories: give resource class → '
            "fields, for example {'VCPU': {'total': 8}}"
        )
    for rc, fields in records.items():
        names.check_symbol(rc, 'resource class')
        if not isinstance(fields, Mapping):
            raise agent_errors.TreeError(
                f'{rc}: {error_text.excerpt(fields)} is no fields of an inventory: '
                "give them by name, for example {'total': 8}"
            )


def _no_class(
    missing: Sequence[str], known: frozenset[str]
) -> errors.DoesNotExist:
    meant = [trait_names.nearest(rc, known) for rc in missing]
    hint = (
        f'; did you mean {meant[0]}?' if len(meant) == 1 and meant[0] else ''
    )
    what = ', '.join(missing)
    return errors.DoesNotExist(
        f'placement knows no resource class {what}{hint}'
    )


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
