# SPDX-License-Identifier: Apache-2.0
"""Resource providers as Python: which there are, made and deleted.

Each method says its route, the codes it can meet and the microversion that
has it. What a provider holds is in ``contents.py``. It remembers nothing.
"""

import uuid as uuidlib
from collections.abc import Iterable

from compute_agent import errors as agent_errors
from compute_agent import excerpt, names, provider

from . import contents, errors, guarded, provider_query, rows, wire
from . import operations as ops

_SHOWN = 5  # names in a message


class Providers(contents.Contents):
    """The resource providers of one placement service, and what they hold."""

    def find(self, name_or_uuid: str) -> wire.Listed:
        """Return the provider of this uuid or name.

        ``GET /resource_providers?name=`` (1.0), 200; what looks like a uuid is
        tried as one too, with ``?uuid=``.

        :raises errors.NotFound: there is none, or one has this uuid and
            another this name
        :raises agent_errors.InvalidName: no provider could be called that
        """
        names.check_provider_name(name_or_uuid)
        found: list[wire.Listed] = []
        if names.is_uuid(name_or_uuid):
            found = self._rows(wire.identified(name_or_uuid.lower()))
        rows = self._rows(wire.named(name_or_uuid))
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
        raise errors.NotFound(f'no provider is called {name_or_uuid}{near}')

    def listed(
        self, query: provider_query.ProviderQuery | None = None
    ) -> list[wire.Listed]:
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
                f'{excerpt.of(query)} is no ProviderQuery'
            )
        try:
            rows = self._rows(query.path(), query.least_version)
        except errors.UnknownName as exc:
            self.check_traits(query.traits.traits)
            self.check_classes(query.resources)
            raise errors.NotFound(str(exc)) from exc
        return sorted(rows, key=lambda row: (row.name, row.uuid))

    def create(
        self,
        name: str,
        uuid: str | None = None,
        parent: str | None = None,
        aggregates: Iterable[str] = (),
    ) -> wire.Listed:
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
            answer = self._service.send(wire.request(operation, None))
        except errors.NameTaken as exc:
            raise self._taken(operation) from exc
        except errors.BadRequest as exc:
            if parent is None or self._rows(wire.identified(parent)):
                raise
            raise errors.NotFound(
                f'{name} is not created: there is no provider {parent} that '
                'it could go below'
            ) from exc
        made = wire.created(answer)
        try:
            if wanted:
                self.add_aggregates(made, wanted)
        except agent_errors.AgentError as exc:
            raise type(exc)(
                f'{provider.title(name, made.uuid)} was created, but is in no '
                f'aggregate yet: {exc}'
            ) from exc
        return made

    def delete(self, one: wire.Listed) -> None:
        """Delete a provider that nothing stands against.

        ``DELETE /resource_providers/{uuid}`` (1.0): 204; 404; 409 for children
        or allocations.

        :raises errors.NotFound: it is gone already (404)
        :raises errors.InUse: what stands against it is named (409)
        """
        guarded.check(one)
        operation = ops.DeleteProvider(uuid=one.uuid, name=one.name)
        try:
            self._service.send(wire.request(operation, None))
        except errors.Vanished as exc:
            raise errors.NotFound(
                f'{provider.title(one.name, one.uuid)} is gone already'
            ) from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'{provider.title(one.name, one.uuid)} is not deleted: {self._against(one)}'
            ) from exc

    def _rows(
        self, path: str, needed: wire.Version = wire.OLDEST
    ) -> list[wire.Listed]:
        return self._service.read(path, rows.listed, needed)

    def _taken(self, wanted: ops.CreateProvider) -> errors.NameTaken:
        """Return the error that says who has the uuid or the name."""
        for path, what in (
            (wire.identified(wanted.uuid), f'uuid {wanted.uuid}'),
            (wire.named(wanted.name), f'name {wanted.name}'),
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

    def _against(self, one: wire.Listed) -> str:
        """Return what stands against the deletion of a provider."""
        children = [
            provider.title(row.name, row.uuid)
            for row in self._rows(wire.in_tree(one.uuid))
            if row.parent_uuid == one.uuid
        ]
        if children:
            return f'delete its children first: {_some(sorted(children))}'
        with guarded.naming(one):
            answer = self._service.get(wire.allocations(one.uuid))
        _, consumers = wire.allocated(answer)
        who = {uuid for some in consumers.values() for uuid in some}
        if not who:
            return 'somebody had something of it a moment ago; try again'
        return (
            f'its {", ".join(sorted(consumers))} is allocated to '
            f'{_some(sorted(who))}'
        )


def _ambiguous(
    word: str, by_uuid: wire.Listed, by_name: wire.Listed
) -> errors.NotFound:
    return errors.NotFound(
        f'{word} is the uuid of the provider {by_uuid.name} and the name of '
        f'the provider {by_name.uuid}: say which of these you mean'
    )


def _some(names_: list[str]) -> str:
    more = len(names_) - _SHOWN
    shown = ', '.join(names_[:_SHOWN])
    return f'{shown} and {more} more' if more > 0 else shown
