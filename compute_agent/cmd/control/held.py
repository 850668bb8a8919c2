# SPDX-License-Identifier: Apache-2.0
"""The changes that the daemon holds back now, and their digest.

A person approves a list of changes by its digest. If the list changed since it
was shown, its digest is another one, and the approval is refused.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from ...cycle.node import node_result
from ...limits.approval import Subject
from ...tree import node
from .node_states import Moment, NodeState


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HeldNode:
    """The changes of one node that wait for a person.

    :ivar lines: a line for each change
    :ivar since: the moment from which the first of them waits
    """

    node: node.Node
    lines: tuple[str, ...]
    since: Moment
    subjects: frozenset[Subject]


def of(states: Iterable[NodeState], nodes: Sequence[str]) -> list[HeldNode]:
    """Return the nodes with changes that wait, in their order.

    :param nodes: names, uuids or titles; empty for all nodes
    :raises errors.ConfigError: there is no such node
    """
    by_node = {state.result.node: state for state in states}
    chosen = [by_node[each] for each in node.selected(by_node, nodes)]
    found = [_held(state) for state in chosen if state.held]
    return [each for each in found if each.subjects]


def digest(nodes: Iterable[HeldNode]) -> str:
    """Return the digest of all these changes."""
    lines = sorted(
        f'{each.kind.value} {each.digest}'
        for one in nodes
        for each in one.subjects
    )
    text = '\n'.join(dict.fromkeys(lines))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def matching(nodes: Sequence[HeldNode], wanted: str) -> list[HeldNode]:
    """Return those of these nodes whose changes have this digest.

    These are all of them, or a single one; empty if it is of other changes.
    """
    for some in _choices(nodes):
        if digest(some) == wanted:
            return some
    return []


def _choices(nodes: Sequence[HeldNode]) -> Iterator[list[HeldNode]]:
    yield list(nodes)
    yield from ([each] for each in nodes)


def _held(state: NodeState) -> HeldNode:
    """Return the changes of a node; an approval covers those with a line."""
    found = node_result.held_changes(state.planned) if state.planned else ()
    return HeldNode(
        node=state.result.node,
        lines=tuple(change.text for change in found),
        since=min(state.held.values(), key=lambda moment: moment.uptime),
        subjects=frozenset(change.subject for change in found),
    )
