# SPDX-License-Identifier: Apache-2.0
"""Print one line for nodes whose texts say the same.

Pure: no I/O, configuration, logging or clock. Two texts say the same if they
differ only in what a single node has: its names, uuids, amounts, and the names
of traits and classes that a change adds or removes. So a thousand nodes that
placement refuses for one reason have one line, with their number and the first
of them. The log, ``status``, ``sync`` and ``plan`` call it.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence

from .. import error_text
from .node import Node

FEW = 3  # nodes of a group that are named

_PROCESS = re.compile(r'\bprocess \d+')
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# A number that is no part of a name, and no status of HTTP.
_NUMBER = re.compile(r'(?<![\w.])(?<!HTTP )\d+(\.\d+)?(?![\w.]*\w)')
# The marks of an operation, as ``report_client/plan/render.py`` writes them.
_MARK = r'(?<!\w)[+~-][A-Z][A-Z0-9_]+[^,:;]*'
_MARKS = re.compile(rf'{_MARK}(, {_MARK})*( and \d+ more)?')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Nodes with texts that say the same.

    :ivar nodes: in their order
    :ivar texts: the text of each
    """

    nodes: Sequence[Node]
    texts: Sequence[str]

    @property
    def named(self) -> str:
        """The first nodes by name and uuid, and how many more there are."""
        return error_text.few([*map(str, self.nodes)], FEW)

    @property
    def text(self) -> str:
        """The text; for several nodes, "it" replaces the name of the node.

        If their texts still differ, the text of the first is the example.
        """
        if len(self.nodes) == 1:
            return self.texts[0]
        nameless = set(map(_nameless, self.nodes, self.texts))
        if len(nameless) == 1:
            return nameless.pop()
        return f'for example: {self.texts[0]}'

    def line(self) -> str:
        """Return one line about these nodes, with their number if several."""
        if len(self.nodes) == 1:
            return f'{self.named}: {self.text}'
        return f'{len(self.nodes)} nodes ({self.named}): {self.text}'


def groups(said: Iterable[tuple[Node, str]]) -> list[Group]:
    """Return the texts in groups, in the order of the first of each group."""
    found: dict[str, list[tuple[Node, str]]] = {}
    for node, text in said:
        found.setdefault(reason(node, text), []).append((node, text))
    return [
        Group(
            nodes=[node for node, _ in some], texts=[text for _, text in some]
        )
        for some in found.values()
    ]


def lines(said: Iterable[tuple[Node, str]]) -> list[str]:
    """Return one line for many nodes with one text, or a line each for few."""
    return [
        line
        for group in groups(said)
        for line in (
            [group.line()]
            if len(group.nodes) > FEW
            else map(Node.line, group.nodes, group.texts)
        )
    ]


def reason(node: Node, text: str) -> str:
    """Return a text without its node's names, uuids and amounts."""
    plain = error_text.without_request_ids(text)
    plain = _MARKS.sub('CHANGES', pattern(plain, node.called, node.name))
    return _NUMBER.sub('N', plain)


def pattern(text: str, *names: str) -> str:
    """Return a text about a node without its names and without uuids.

    :param names: the names of the node
    """
    text = _PROCESS.sub('process N', _UUID.sub('UUID', text))
    for name in sorted(set(names), key=len, reverse=True):
        text = _replaced(text, name, 'NODE', _ends_no_word)
    return text


def _nameless(node: Node, text: str) -> str:
    """Return a text with "it" in place of its node's name."""
    text = error_text.without_request_ids(text).replace(str(node), 'it')
    for name in sorted({node.called, node.name}, key=len, reverse=True):
        text = _replaced(text, name, 'it', _ends_no_name)
    return text


def _ends_no_word(neighbour: str) -> bool:
    return neighbour.isascii() and neighbour.isalnum()


def _ends_no_name(neighbour: str) -> bool:
    return neighbour.isalnum() or neighbour in {'_', '.', '-'}


def _replaced(
    text: str, name: str, by: str, goes_on: Callable[[str], bool]
) -> str:
    """Return a text with other words for a name, where the name is whole.

    A pattern for each of ten thousand names would take seconds to compile.

    :param goes_on: returns True if a name goes on with this character
    """
    parts, done, at = list[str](), 0, text.find(name)
    while name and at >= 0:
        end = at + len(name)
        if not any(map(goes_on, (*text[:at][-1:], *text[end : end + 1]))):
            parts += [text[done:at], by]
            done = end
        at = text.find(name, end)
    return ''.join([*parts, text[done:]])
