# SPDX-License-Identifier: Apache-2.0
"""The entries of the history about what a command did to a provider."""

import dataclasses
import typing
from collections.abc import Iterable

from ..app import command

if typing.TYPE_CHECKING:
    from report_client.http import codec

    from ...plan.history_entry import Entry


def tell(
    asking: command.AgentCommand,
    provider: 'codec.ListedProvider',
    entries: 'Iterable[Entry]',
) -> None:
    """Add to the history on this host what a command did to a provider."""
    from ..wiring import host_history  # noqa: PLC0415 (quick --help)

    of_node = [
        dataclasses.replace(entry, node_uuid=provider.root_uuid)
        for entry in entries
    ]
    host_history.add(asking.conf(), asking.actor, of_node)


def created(
    asking: command.AgentCommand, provider: 'codec.ListedProvider'
) -> None:
    """Add that a command created a provider."""
    from ...plan.history_entry import What  # noqa: PLC0415 (quick --help)

    tell(asking, provider, [_entry(provider, What.CREATED)])


def renamed(
    asking: command.AgentCommand, provider: 'codec.ListedProvider', name: str
) -> None:
    """Add that a command gave a provider this name."""
    from ...plan.history_entry import What  # noqa: PLC0415 (quick --help)

    entry = _entry(provider, What.MOVED)
    told = dataclasses.replace(entry, text=f'renamed to {name}')
    tell(asking, provider, [told])


def deleted(
    asking: command.AgentCommand, provider: 'codec.ListedProvider'
) -> None:
    """Add that a command deleted a provider."""
    from ...plan.change import Change  # noqa: PLC0415 (quick --help)
    from ...plan.history_entry import What  # noqa: PLC0415

    change = Change(uuid=provider.uuid, kind=None, existed=True, exists=False)
    entry = _entry(provider, What.DELETED)
    tell(asking, provider, [dataclasses.replace(entry, changes=(change,))])


def _entry(provider: 'codec.ListedProvider', what: typing.Any) -> 'Entry':
    from ...plan.history_entry import Entry  # noqa: PLC0415 (quick --help)

    return Entry(what=what, uuid=provider.uuid, provider=provider.name)
