# SPDX-License-Identifier: Apache-2.0
"""Find, list, create, rename and delete resource providers.

Each docstring gives the route, its status codes, and the microversion that has
the route. ``provider_contents.py`` reads and changes the contents of a
provider, and ``provider_details.py`` reads all of it together. A change merges
the current state and loses no change of another writer. The client keeps no
state.
"""

import uuid as uuidlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import names, provider
from compute_agent.tree.node import Node

from .. import errors
from ..http.messages import codec, codec_writes, list_stream, paths
from . import (
    content_kinds,
    provider_contents,
    provider_details,
    resource_classes,
    traits,
)
from .values import provider_query

FEW = 10  # words for which the list is not read as a whole

Found = codec.ListedProvider | agent_errors.AgentError


class Providers(provider_details.ProviderDetails):
    """The resource providers of one placement service.

    :param sleep: called with seconds before another attempt
    """

    def find(self, name_or_uuid: str) -> codec.ListedProvider:
        """Return the provider with this uuid or name.

        ``GET /resource_providers?name=`` (1.0): 200. A word that looks like a
        uuid is also looked up with ``?uuid=``.

        :raises errors.DoesNotExist: there is no such provider
        :raises errors.Ambiguous: one provider has this uuid and another has it
            as its name
        :raises agent_errors.InvalidName: no provider can have this name
        """
        return self._find(name_or_uuid)

    def find_all(self, words: Collection[str]) -> dict[str, Found]:
        """Return for each name or uuid its provider, or why there is none.

        The errors are those of ``find``. For more than a few words it sends
        one ``GET /resource_providers`` (1.14) instead of a request for each.

        :raises agent_errors.AgentError: placement did not answer
        """
        return self.find_in_placement(words)

    def find_in_placement(self, words: Collection[str]) -> dict[str, Found]:
        """Return what ``find_all`` returns, by the names in placement only."""
        wanted = dict.fromkeys(names.check_collection(words))
        find: Callable[[str], codec.ListedProvider] = self._find
        if len(wanted) > FEW:
            find = _in_list(self._rows(paths.PROVIDERS))
        return {word: _outcome(find, word) for word in wanted}

    def _find(self, name_or_uuid: str) -> codec.ListedProvider:
        names.check_provider_name(name_or_uuid)
        found: list[codec.ListedProvider] = []
        if names.is_uuid(name_or_uuid):
            found = self._rows(paths.by_uuid(name_or_uuid.lower()))
        rows = self._rows(paths.by_name(name_or_uuid))
        named = [row for row in rows if row.name == name_or_uuid]
        # MariaDB compares names without regard to case.
        alike = {row.name.lower(): row.name for row in rows}
        return _chosen(name_or_uuid, [*found, *named], alike)

    def list_providers(
        self, query: provider_query.ProviderQuery | None = None
    ) -> list[codec.ListedProvider]:
        """Return the providers that meet a query, sorted by name.

        ``GET /resource_providers`` (1.14 for the rows; ``required`` 1.18,
        ``!`` 1.22, ``in:`` 1.39, forbidden aggregates 1.32): 200, 400.

        :raises errors.DoesNotExist: placement does not know a trait or a resource
            class of the query (400)
        :raises errors.TooOld: this placement is too old for such a query
        """
        if query is None:
            query = provider_query.ProviderQuery()
        elif not isinstance(query, provider_query.ProviderQuery):
            raise agent_errors.InvalidName(
                f'{error_text.excerpt(query)} is not a ProviderQuery'
            )
        try:
            rows = self._rows(query.path(), query.least_version)
        except errors.UnknownName as exc:
            traits.Traits(self._service).check(query.traits.traits)
            resource_classes.ResourceClasses(self._service).check(
                query.resources
            )
            raise errors.DoesNotExist(str(exc)) from exc
        return sorted(rows, key=lambda row: (row.name, row.uuid))

    def create(
        self,
        name: str,
        uuid: str | None = None,
        parent: str | None = None,
        aggregates: Iterable[str] = (),
    ) -> codec.ListedProvider:
        """Create a provider, add it to aggregates, and return it.

        ``POST /resource_providers`` (1.20): 200; 400 if the parent does not
        exist; 409 if the name or the uuid is taken. With aggregates, the
        requests of ``add_aggregates`` follow.

        :param uuid: random if None
        :param parent: the uuid of the parent; None for a root
        :param aggregates: uuids
        :raises agent_errors.InvalidName: a name or a uuid is invalid
        :raises errors.NameTaken: another provider has the name or the uuid
        :raises errors.DoesNotExist: the parent does not exist
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
        made = self._create(operation)
        try:
            if wanted:
                self.add(made, content_kinds.AGGREGATES, wanted)
        except agent_errors.AgentError as exc:
            raise type(exc)(
                f'{provider.title(name, made.uuid)} was created, but is in no '
                f'aggregate yet: {exc}'
            ) from exc
        return made

    def _create(self, operation: ops.CreateProvider) -> codec.ListedProvider:
        parent = operation.parent_uuid
        try:
            answer = self._service.send(codec_writes.request(operation, {}))
        except errors.NameTaken as exc:
            raise self._taken(operation) from exc
        except errors.BadRequest as exc:
            if parent is None or self._rows(paths.by_uuid(parent)):
                raise
            raise errors.DoesNotExist(
                f'provider {operation.name} was not created: its parent '
                f'{parent} does not exist'
            ) from exc
        return codec.created_provider(answer)

    def delete(self, target: codec.ListedProvider) -> None:
        """Delete a provider without children and allocations.

        ``DELETE /resource_providers/{uuid}`` (1.0): 204; 404; 409 if it has
        children or allocations.

        :raises errors.DoesNotExist: the provider was deleted already (404)
        :raises errors.InUse: it has children or allocations, which the message
            names (409)
        """
        provider_contents.check_provider(target)
        operation = ops.DeleteProvider(uuid=target.uuid, name=target.name)
        try:
            self._service.send(codec_writes.request(operation, {}))
        except errors.NotFound as exc:
            raise errors.DoesNotExist(f'{target} is gone already') from exc
        except errors.InUse as exc:
            raise errors.InUse(
                f'{target} was not deleted: {self._users(target)}'
            ) from exc

    def rename(
        self, target: codec.ListedProvider, name: str
    ) -> ops.UpdateProvider:
        """Rename a provider, and return the operation; its parent stays.

        ``PUT /resource_providers/{uuid}`` (1.14; since 1.37 a null parent
        means that the provider becomes or stays a root): 200; 404; 409 if the
        name is taken.

        :raises errors.NameTaken: another provider has the name; it is named
        :raises errors.DoesNotExist: the provider was deleted
        """
        return self.update(target, name, target.parent_uuid)

    def update(
        self, target: codec.ListedProvider, name: str, parent: str | None
    ) -> ops.UpdateProvider:
        """Give a provider a name and a parent, and return the operation.

        The request is that of ``rename``; 400 for a parent that does not
        exist, or that is the provider itself or below it.

        :param parent: its uuid; None for a root
        :raises errors.NameTaken: another provider has the name; it is named
        :raises errors.DoesNotExist: the provider was deleted
        """
        operation = ops.UpdateProvider(
            uuid=target.uuid,
            name=names.check_provider_name(name),
            parent_uuid=parent,
            old_name=target.name,
            old_parent_uuid=target.parent_uuid,
        )
        try:
            self._service.send(codec_writes.request(operation, {}))
        except errors.NameTaken as exc:
            self.check_free(name)
            raise errors.NameTaken(
                f'the name {name} was taken a moment ago: try again'
            ) from exc
        except errors.NotFound as exc:
            raise errors.DoesNotExist(f'{target} is gone') from exc
        return operation

    def check_free(self, name: str) -> None:
        """Check that no provider has this name.

        :raises errors.NameTaken: a provider has it
        """
        rows = self.list_providers(provider_query.ProviderQuery(name=name))
        if rows:
            raise errors.NameTaken(
                f'the name {name} is taken: provider {rows[0]} has it; rename '
                'or delete that provider first'
            )

    def tree(
        self, target: codec.ListedProvider | Node
    ) -> list[codec.ListedProvider]:
        """Return the providers of the tree that this provider is in.

        The list is empty if placement has no provider of this uuid.

        ``GET /resource_providers?in_tree=`` (1.14): 200.
        """
        return self.list_providers(
            provider_query.ProviderQuery(in_tree=target.uuid)
        )

    def _taken(self, wanted: ops.CreateProvider) -> errors.NameTaken:
        """Return the error that names the holder of the uuid or the name."""
        for path, taken in (
            (paths.by_uuid(wanted.uuid), f'uuid {wanted.uuid}'),
            (paths.by_name(wanted.name), f'name {wanted.name}'),
        ):
            rows = self._rows(path)
            if rows:
                return errors.NameTaken(
                    f'the {taken} is taken: provider {rows[0]} has it'
                )
        return errors.NameTaken(
            f'the name {wanted.name} or the uuid {wanted.uuid} was taken a '
            'moment ago: try again'
        )

    def _users(self, target: codec.ListedProvider) -> str:
        """Return the children or consumers that prevent a deletion."""
        children = [
            str(row)
            for row in self._rows(paths.in_tree(target.uuid))
            if row.parent_uuid == target.uuid
        ]
        if children:
            return f'delete its children first: {error_text.listed(children)}'
        _, consumers = self._allocated(target)
        if not any(consumers.values()):
            return 'it had children or allocations a moment ago; try again'
        return (
            f'its {", ".join(sorted(consumers))} is allocated to '
            f'{provider_contents.listed(consumers)}'
        )

    def _rows(
        self, path: str, needed: codec.Version = codec.OLDEST
    ) -> list[codec.ListedProvider]:
        rows = self._service.read(path, list_stream.listed_providers, needed)
        codec.check_rows(rows)
        return rows


def _in_list(
    rows: Iterable[codec.ListedProvider],
) -> Callable[[str], codec.ListedProvider]:
    """Return a function that finds a provider among these."""
    rows = list(rows)
    by_uuid = {row.uuid: row for row in rows}
    by_name = {row.name: row for row in rows}
    alike = {row.name.lower(): row.name for row in rows}

    def find(word: str) -> codec.ListedProvider:
        names.check_provider_name(word)
        uuid = word.lower() if names.is_uuid(word) else ''
        found = [by_uuid[uuid]] if uuid in by_uuid else []
        found += [by_name[word]] if word in by_name else []
        return _chosen(word, found, alike)

    return find


def _outcome(find: Callable[[str], codec.ListedProvider], word: str) -> Found:
    try:
        return find(word)
    except (errors.DoesNotExist, agent_errors.InvalidName) as exc:
        return exc


def _chosen(
    word: str,
    by_uuid_and_name: Sequence[codec.ListedProvider],
    alike: Mapping[str, str],
) -> codec.ListedProvider:
    """Return the one provider that a word means.

    :param alike: name in small letters → name, for a suggestion
    :raises errors.DoesNotExist: no provider has this name or uuid
    :raises errors.Ambiguous: the word is one provider's uuid and another's
        name
    """
    found = {row.uuid: row for row in by_uuid_and_name}
    if len(found) > 1:
        one, other = found.values()
        raise errors.Ambiguous(
            f'{word} is both the uuid of provider {one.name} and the name of '
            f'provider {other.uuid}: use {one.name} or {other.uuid}'
        )
    if found:
        return by_uuid_and_name[0]
    near = alike.get(word.lower())
    hint = f'; did you mean {near}?' if near else ''
    raise errors.DoesNotExist(f'no provider is called {word}{hint}')
