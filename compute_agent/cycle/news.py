# SPDX-License-Identifier: Apache-2.0
"""Log the news of a cycle's nodes: a failure when it begins, changes and ends.

A line that is the same for many nodes, such as the reason of a mass of removals
that a limit holds back, is logged once with their number and the first names;
each node's own line is then for debugging. ``service.py`` calls it after each
cycle.
"""

import dataclasses
import logging
from collections.abc import Iterator, Sequence

from .. import error_text
from ..limits import approval, contention, effects
from ..ownership import takeover
from ..tree import alike
from ..tree.node import Node
from .node import node_result
from .node.node_result import NodeResult

LOG = logging.getLogger(__name__)

_FIRST_WRITES = 'first writes'
_MENDED = 'no trouble any more'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A line about one node.

    :ivar text: the line, without the node at its beginning
    :ivar about: the part of it that tells if others are the same news
    :ivar together: what all that have the same one have in common; empty for
        a line that speaks for itself
    """

    node: Node
    level: int
    text: str
    about: str
    together: str = ''


class News:
    """Remembers what was logged about each node."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, frozenset[str]]] = {}
        self._alternation = contention.Alternation()

    def log(self, results: Sequence[NodeResult], told: str = '') -> bool:
        """Log the news of a cycle; return True if a node had any.

        :param told: a trouble that was logged before the list of nodes was
            known; it is not logged again as a node's first reason
        """
        count, items = 0, list[_Item]()
        for result in results:
            is_new = result.node.uuid not in self._said and not result.outage
            found = list(self._of_node(result, told))
            count += bool(is_new or found)
            items += found
        here = {r.node.uuid for r in results}
        self._said = {u: s for u, s in self._said.items() if u in here}
        _log(items)
        _log([*self._turns(results)])
        return count > 0

    def _of_node(self, result: NodeResult, told: str) -> Iterator[_Item]:
        """Yield the news of a node.

        An outage is logged once for all nodes, not here.
        """
        if result.outage:
            return
        node = result.node
        reason, notes = self._said.get(node.uuid, ('', frozenset()))
        now = error_text.without_request_ids(result.reason)
        plain = map(error_text.without_request_ids, result.notes)
        by_text = dict(zip(plain, result.notes, strict=True))
        self._said[node.uuid] = (now, frozenset(by_text))
        for text, note in by_text.items():
            if text not in notes:
                yield _item(node, node.shortened(note))
        if now not in {reason, reason or told}:
            yield (
                _trouble(result) if now else _item(node, _MENDED, logging.INFO)
            )

    def _turns(self, results: Sequence[NodeResult]) -> Iterator[_Item]:
        """Yield the names that the driver makes the agent undo itself."""
        found = self._alternation.end_cycle(
            {
                r.node.uuid: effects.items(r.applied) if r.plan else None
                for r in results
            }
        )
        for result in results:
            node = result.node
            seen = result.plan.before if result.plan else {}
            for item in found.get(node.uuid, ()):
                line = contention.alternation_line(item, seen, node.uuid)
                yield _item(node, node.shortened(line))


def _item(node: Node, text: str, level: int = logging.WARNING) -> _Item:
    return _Item(node=node, level=level, text=text, about=text)


def _trouble(result: NodeResult) -> _Item:
    """Return why a node is not done."""
    node = result.node
    text = node_result.text(result)
    # The losses differ from node to node.
    others = next((one.others for one in result.takeovers if one.others), '')
    together = result.takeovers and f'{_FIRST_WRITES}{others}'
    if result.removals_wait:
        together = f'{result.removals_wait}; {approval.ADVICE}'
    item = dataclasses.replace(_item(node, text), together=together or '')
    if result.again_in is not None:
        text += f'; again in about {result.again_in:.0f} s'
    return dataclasses.replace(item, text=text)


def _log(items: Sequence[_Item]) -> None:
    """Log the items, in their order; many that are alike as one line."""
    found: dict[tuple[int, str], list[_Item]] = {}
    keys = [
        (item.level, item.together or alike.reason(item.node, item.about))
        for item in items
    ]
    for key, item in zip(keys, items, strict=True):
        found.setdefault(key, []).append(item)
    for key, item in zip(keys, items, strict=True):
        group = found[key]
        is_mass = len(group) > alike.FEW
        if is_mass and item is group[0]:
            LOG.log(item.level, '%s', _summary(group))
        level = logging.DEBUG if is_mass else item.level
        LOG.log(level, '%s: %s', item.node, item.text)


def _summary(items: Sequence[_Item]) -> str:
    """Return one line for many nodes."""
    nodes, together = [item.node for item in items], items[0].together
    if together.startswith(_FIRST_WRITES):
        others = together.removeprefix(_FIRST_WRITES)
        return takeover.summary(list(map(str, nodes)), others)
    texts = [together or item.about for item in items]
    return alike.Group(nodes=nodes, texts=texts).line()
