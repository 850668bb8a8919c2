# SPDX-License-Identifier: Apache-2.0
"""The rules for renaming a provider: the driver must know it by the new name.

A driver finds a node by its name, and a child by the name that its uuid was
derived from. A rename that the driver does not share would be undone by the
next cycle, or would stop it. Pure rules; ``provider rename`` calls them.
"""

from collections.abc import Collection, Sequence

from .. import errors
from ..ownership import adoption
from ..tree import provider_tree
from ..tree.node import Node


def new_name(
    provider: adoption.ListedProvider,
    nodes: Sequence[Node],
    wanted: str | None,
) -> str:
    """Return the new name of a provider; a node's is the driver's name.

    :raises errors.ConfigError: no name is given, or the driver has another
    """
    node = next((n for n in nodes if n.uuid == provider.uuid), None)
    if node is None and wanted is None:
        raise errors.ConfigError(
            f'{adoption.title(provider)} is not a node of this agent, so its '
            'new name must be given: add NEW_NAME'
        )
    if node is None or wanted == node.name:
        return str(wanted)
    if wanted is not None:
        raise errors.ConfigError(
            f'the driver calls this node {node.name}, so the agent would not '
            f'write it as {wanted}: rename the node in the driver first (for '
            'a host: [DEFAULT] host)'
        )
    return node.name


def check_created(
    provider: adoption.ListedProvider, name: str, created: Collection[str]
) -> None:
    """Refuse to rename a child whose uuid the agent derived from its name.

    :param created: the uuids of the providers that this agent created
    :raises errors.ConfigError: the driver would no longer find the provider
    """
    if (
        provider.uuid in created
        and name != provider.name
        and is_derived(provider, provider.name)
    ):
        raise errors.ConfigError(
            f'the driver calls this provider {provider.name}, and would not '
            f'find it as {name}: rename it in the driver, and the agent '
            'creates it under the new name'
        )


def is_derived(provider: adoption.ListedProvider, name: str) -> bool:
    """Return True if the provider's uuid is derived from parent and name."""
    parent = provider.parent_uuid
    derived = parent and provider_tree.derived_uuid(parent, name)
    return derived == provider.uuid
