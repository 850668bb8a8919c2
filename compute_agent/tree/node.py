# SPDX-License-Identifier: Apache-2.0
"""The compute node: the root provider of one tree.

Pure: no I/O, configuration, logging or clock.
"""

import collections
import dataclasses
from collections.abc import Collection, Iterable, Sequence

from .. import error_text, errors
from . import names, provider

_SHOWN = 3  # names that a message proposes


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


def chosen(nodes: Iterable[Node], wanted: str | None) -> list[Node]:
    """Return the nodes with this uuid, name or title; all for None.

    :raises errors.ConfigError: no node has it
    """
    return selected(nodes, () if wanted is None else (wanted,))


def selected(nodes: Iterable[Node], wanted: Collection[str]) -> list[Node]:
    """Return the nodes with these uuids, names or titles, in their order.

    :param wanted: empty for all nodes
    :raises errors.ConfigError: no node has a given name, and the message
        proposes similar names; or several nodes have it
    """
    nodes = list(nodes)
    if not wanted:
        return nodes
    called = collections.defaultdict[str, list[Node]](list)
    for node in nodes:
        for word in _words(node):
            called[word].append(node)
    for word in wanted:
        found = called.get(_normal(word), [])
        if not found:
            raise errors.ConfigError(_no_node(word, nodes))
        if len(found) > 1:
            uuids = ' or '.join(node.uuid for node in found)
            raise errors.ConfigError(
                f'several nodes are called {word}: give the uuid of one, '
                f'{uuids}'
            )
    asked = set(map(_normal, wanted))
    return [node for node in nodes if _words(node) & asked]


def _words(node: Node) -> set[str]:
    """Return the words that name a node; a uuid in small letters."""
    return {node.called, node.name, _normal(node.uuid), _normal(node.name)} - {
        ''
    }


def _normal(word: str) -> str:
    """Return a word as nodes have it: a uuid may be spelled in capitals."""
    return word.lower() if names.is_uuid(word) else word


def _no_node(word: str, nodes: Sequence[Node]) -> str:
    known = [n.called for n in nodes]
    near = error_text.similar_hosts(word, known, _SHOWN)
    if not near and len(known) <= _SHOWN:
        near = known
    advice = (
        f'; did you mean {", ".join(near)}?'
        if near
        else f', which has {len(known)} others'
        if known
        else ', which has none'
    )
    shown = word or repr(word)
    return f'no node {shown} is among those of the driver{advice}'
