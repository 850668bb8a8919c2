# SPDX-License-Identifier: Apache-2.0
"""Resource providers as Python: which there are, made and deleted.

Each method says its route, the codes it can meet and the microversion that
has it. The traits, aggregates and inventories of a provider are in
``provider_trait.py``, ``provider_aggregate.py`` and ``provider_inventory.py``.
A change merges the current state and loses no change of another writer
(``optimistic_update.py``). The client keeps no state.
"""

import uuid as uuidlib
from collections.abc import Iterable

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.tree import names, provider

from .. import errors
from ..http import codec, list_stream
from ..operations import operations as ops
from . import (
    optimistic_update,
    provider_aggregate,
    provider_inventory,
    provider_query,
    provider_trait,
)

_SHOWN = 5  # names in a message


class Providers(
    provider_trait.ProviderTraits,
    provider_aggregate.ProviderAggregates,
    provider_inventory.ProviderInventories,
):
    """The resource providers of one placement service.

    :param sleep: waits for so many seconds before another attempt
    """

    def find(self, name_or_uuid: str) -> codec.Listed:
        """Return the provider of this uuid or name.

        ``GET /resource_providers?name=`` (1.0), 200; what looks like a uuid is
        tried as one too, with ``?uuid=``.

        :raises errors.NotFound: there is none, or one has this uuid and
            another this name
        :raises agent_errors.InvalidName: no provider could be called that
        """
        names.check_provider_name(name_or_uuid)
        found: list[codec.Listed] = []
        if names.is_uuid(name_or_uuid):
            found = self._rows(codec.identified(name_or_uuid.lower()))
        rows = self._rows(codec.named(name_or_uuid))
        known = {row.uuid for row in found}
        found += [
            row
            for row in rows
            if row.name == name_or_uuid and row.uuid not in known
        ]
        if len(found) > 1:
            raise _ambiguous(name_or_uuid, *found)
        if found:
            return found[0]
        # MariaDB takes two names of other case for one.
        near = f'; did you mean {rows[0].name}?' if rows else ''
        raise errors.DoesNotExist(
            f'no provider is called {name_or_uuid}{near}'
        )

    def listed(
        self, query: provider_query.ProviderQuery | None = None
    ) -> list[codec.Listed]:
        """Return the providers that meet a query, sorted by name.

        ``GET /resource_providers`` (1.14 for the rows; ``required`` 1.18,
        ``!`` 1.22, ``in:`` 1.39, forbidden aggregates 1.32): 200, 400.

        :raises errors.NotFound: placement does not know a trait or a resource
            class of the query (400)
        :raises errors.TooOld: this placement cannot answer such a query
        """
        if query is None:
            query = provider_query.ProviderQuery()
        elif not isinstance(query, provider_query.ProviderQuery):
            raise agent_errors.InvalidName(
                f'{error_text.excerpt(query)} is no ProviderQuery'
            )
        try:
            rows = self._rows(query.path(), query.least_version)
        except errors.UnknownName as exc:
            self.check_traits(query.traits.traits)
            self.check_classes(query.resources)
            raise errors.DoesNotExist(str(exc)) from exc
        return sorted(rows, key=lambda row: (row.name, row.uuid))

    def create(
        self,
        name: str,
        uuid: str | None = None,
        parent: str | None = None,
        aggregates: Iterable[str] = (),
    ) -> codec.Listed:
        """Return a provider that was created, a member of these aggregates.

        ``POST /resource_providers`` (1.20): 200; 400 no such parent; 409 the
        name or the uuid is taken. For aggregates a second request follows, as
        ``add_aggregates`` has it.

        :param uuid: a random one unless given
        :param parent: the uuid of the provider that it goes below
        :raises agent_errors.InvalidName: a name or a uuid is none
        :raises errors.NameTaken: another provider has that name, or that uuid
        :raises errors.NotFound: there is no such parent
        """
        if parent is not None:
            parent = names.check_uuid(parent, 'parent')
        if uuid is None:
            uuid = str(uuidlib.uuid4())
        operation = ops.CreateProvider(
            uuid=names.check_uuid(uuid, 'provider'),
            name=names.check_provider_name(name),
            parent_uuid=parent,
        )
        wanted = names.check_aggregates(aggregates)
        try:
            answer = self._service.send(codec.request(operation, None))
        except errors.NameTaken as exc:
            raise self._taken(operation) from exc
        except errors.BadRequest as exc:
            if parent is None or self._rows(codec.identified(parent)):
                raise
            raise errors.DoesNotExist(
                f'{name} is not created: there is no provider {parent} that '
                'it could go below'
            ) from exc
        made = codec.created(answer)
        try:
            if wanted:
                self.add_aggregates(made, wanted)
        except agent_errors.AgentError as exc:
            raise type(exc)(
                f'{provider.title(name, made.uuid)} was created, but is in no '
                f'aggregate yet: {exc}'
            ) from exc
        return made

    def delete(self, one: codec.Listed) -> None:
        """Delete a provider that nothing stands against.

        ``DELETE /resource_providers/{uuid}`` (1.0): 204; 404; 409 for children
        or allocations.

        :raises errors.NotFound: it is gone already (404)
        :raises errors.InUse: what stands against it is named (409)
        """
        optimistic_update.check(one)
        operation = ops.DeleteProvider(uuid=one.uuid, name=one.name)
        try:
            self._service.send(codec.request(operation, None))
        except errors.NotFound as exc:
            raise errors.DoesNotExist(
                f'{provider.title(one.name, one.uuid)} is gone already'
            ) from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'{provider.title(one.name, one.uuid)} is not deleted: {self._against(one)}'
            ) from exc

    def rename(self, one: codec.Listed, name: str) -> ops.UpdateProvider:
        """Return the renaming, carried out; its parent stays.

        ``PUT /resource_providers/{uuid}`` (1.14; a null parent is kept from
        1.37 on): 200; 404; 409 the name is taken.

        :raises errors.NameTaken: by whom
        :raises errors.NotFound: the provider is gone
        """
        operation = ops.UpdateProvider(
            uuid=one.uuid,
            name=names.check_provider_name(name),
            parent_uuid=one.parent_uuid,
            old_name=one.name,
            old_parent_uuid=one.parent_uuid,
        )
        try:
            self._service.send(codec.request(operation, None))
        except errors.NameTaken as exc:
            self.check_free(name)
            raise errors.NameTaken(
                f'the name {name} was taken a moment ago: try again'
            ) from exc
        except errors.NotFound as exc:
            title = provider.title(one.name, one.uuid)
            raise errors.DoesNotExist(f'{title} is gone') from exc
        return operation

    def check_free(self, name: str) -> None:
        """Check that no provider has this name.

        :raises errors.NameTaken: one has
        """
        rows = self.listed(provider_query.ProviderQuery(name=name))
        if rows:
            holder = provider.title(rows[0].name, rows[0].uuid)
            raise errors.NameTaken(
                f'the name {name} is taken: provider {holder} has it; rename '
                'or delete that one first'
            )

    def tree(self, one: codec.Listed) -> list[codec.Listed]:
        """Return the providers of the tree that this one is in."""
        return self.listed(provider_query.ProviderQuery(in_tree=one.uuid))

    def _rows(
        self, path: str, needed: codec.Version = codec.OLDEST
    ) -> list[codec.Listed]:
        return self._service.read(path, list_stream.listed, needed)

    def _taken(self, wanted: ops.CreateProvider) -> errors.NameTaken:
        """Return the error that says who has the uuid or the name."""
        for path, what in (
            (codec.identified(wanted.uuid), f'uuid {wanted.uuid}'),
            (codec.named(wanted.name), f'name {wanted.name}'),
        ):
            rows = self._rows(path)
            if rows:
                holder = provider.title(rows[0].name, rows[0].uuid)
                return errors.NameTaken(
                    f'the {what} is taken: provider {holder} has it'
                )
        return errors.NameTaken(
            f'the name {wanted.name} or the uuid {wanted.uuid} was taken a '
            'moment ago: try again'
        )

    def _against(self, one: codec.Listed) -> str:
        """Return what stands against the deletion of a provider."""
        children = [
            provider.title(row.name, row.uuid)
            for row in self._rows(codec.in_tree(one.uuid))
            if row.parent_uuid == one.uuid
        ]
        if children:
            return f'delete its children first: {_some(sorted(children))}'
        with optimistic_update.naming(one):
            answer = self._service.get(codec.allocations(one.uuid))
        _, consumers = codec.allocated(answer)
        who = {uuid for some in consumers.values() for uuid in some}
        if not who:
            return 'somebody had something of it a moment ago; try again'
        return (
            f'its {", ".join(sorted(consumers))} is allocated to '
            f'{_some(sorted(who))}'
        )


def _ambiguous(
    word: str, by_uuid: codec.Listed, by_name: codec.Listed
) -> errors.DoesNotExist:
    return errors.DoesNotExist(
        f'{word} is the uuid of the provider {by_uuid.name} and the name of '
        f'the provider {by_name.uuid}: say which of these you mean'
    )


def _some(names_: list[str]) -> str:
    more = len(names_) - _SHOWN
    shown = ', '.join(names_[:_SHOWN])
    return f'{shown} and {more} more' if more > 0 else shown
