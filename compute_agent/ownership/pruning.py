# SPDX-License-Identifier: Apache-2.0
"""The operator's order to remove certain names, from one node or from all.

An agent that lost its state database no longer knows what it added, so it
only adds. ``sync --prune`` names what to remove, one by one; a name that a
source claims stays. Pure: no I/O, configuration, logging or clock. The command
line makes a ``Prune``; ``policy.py`` carries it to ``resolve.py``.
"""

import dataclasses
import re
import typing
from collections.abc import Collection, Iterable

from .. import errors
from ..tree import names
from ..tree.node import Node
from . import policy

_NAME = re.compile(r'[A-Z0-9_]{1,255}')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prune:
    """Traits, resource classes and aggregates to remove.

    :ivar node: the name, title or uuid of one node; None for every node
    """

    names: frozenset[str] = frozenset()
    node: str | None = None

    @classmethod
    def parse(
        cls, words: Iterable[str], node: str | None = None
    ) -> typing.Self:
        """Return the order that an operator wrote.

        :param words: names, or several with commas between them
        :raises errors.ConfigError: a word is not a name, the agent never
            prunes it, or there is a node without a name
        """
        listed = [name for word in words for name in word.split(',')]
        if node is not None and not listed:
            raise errors.ConfigError(
                '--node selects a node for --prune: add --prune NAME'
            )
        checked = frozenset(_checked(name.strip()) for name in listed)
        policy.Orders(prune=checked)  # refuses the protected names
        return cls(names=checked, node=node)

    def of(self, node: Node) -> frozenset[str]:
        """Return the names to remove from one node's providers."""
        selected = {None, node.name, node.called, node.uuid}
        return self.names if self.node in selected else frozenset()

    def remaining(self, removed: Collection[str]) -> list[str]:
        """Return the ordered names that are not among the removed ones."""
        return sorted(self.names.difference(removed))


NOTHING = Prune()


def _checked(name: str) -> str:
    if names.is_uuid(name):
        return name.lower()
    if not _NAME.fullmatch(name):
        raise errors.ConfigError(
            f'--prune: {name!r} is not a trait, resource class or aggregate: '
            'give complete names, separated by commas'
        )
    return name
