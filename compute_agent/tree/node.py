# SPDX-License-Identifier: Apache-2.0
"""The compute node: the root provider of one tree.

Pure: no I/O, configuration, logging or clock.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from .. import errors
from . import provider


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A compute node: the root provider of one tree.

    :ivar name: the provider's name, by which the driver knows it
    :ivar title: the name that people use, if it is different
    """

    uuid: str
    name: str
    title: str = dataclasses.field(default='', compare=False)

    def __str__(self) -> str:
        return provider.title(self.called, self.uuid)

    def line(self, text: str) -> str:
        """Return a text about this node as a line that names it once."""
        return f'{self}: {self.shortened(text)}'

    def shortened(self, text: str) -> str:
        """Return a text for a line that begins with this node.

        Reasons of the report client name the provider, which may be the node.
        """
        for title in (str(self), provider.title(self.name, self.uuid)):
            text = text.removeprefix(f'{title}: ').replace(title, self.called)
        return text

    @property
    def called(self) -> str:
        """The name that people use."""
        return self.title or self.name


class CreatedProviders(Protocol):
    """The record of the providers that were created for each node."""

    def created_for(
        self, node_uuids: Iterable[str]
    ) -> Mapping[str, Sequence[str]]:
        """Return the providers created while each of these was described."""


def chosen(nodes: Iterable[Node], wanted: str | None) -> list[Node]:
    """Return the nodes with this uuid, name or title; all for None.

    :raises errors.ConfigError: no node has it
    """
    if wanted is None:
        return list(nodes)
    found = [n for n in nodes if wanted in {n.called, n.name, n.uuid}]
    if not found:
        raise errors.ConfigError(
            f'no node {wanted} is among those of the driver'
        )
    return found
