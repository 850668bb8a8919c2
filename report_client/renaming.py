# SPDX-License-Identifier: Apache-2.0
"""Giving a provider another name, and no other name away.

Placement guards a name by nothing but its being unique, so what stands against
it is asked for first and said. It remembers nothing; ``provider rename`` calls
it.
"""

from compute_agent import names, provider

from . import errors, provider_query, providers, wire
from . import operations as ops


class Renaming(providers.Providers):
    """The resource providers of one placement service, and their names."""

    def rename(self, one: wire.Listed, name: str) -> ops.UpdateProvider:
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
            self._service.send(wire.request(operation, None))
        except errors.NameTaken as exc:
            self.check_free(name)
            raise errors.NameTaken(
                f'the name {name} was taken a moment ago: try again'
            ) from exc
        except errors.Vanished as exc:
            title = provider.title(one.name, one.uuid)
            raise errors.NotFound(f'{title} is gone') from exc
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

    def tree(self, one: wire.Listed) -> list[wire.Listed]:
        """Return the providers of the tree that this one is in."""
        return self.listed(provider_query.ProviderQuery(in_tree=one.uuid))
