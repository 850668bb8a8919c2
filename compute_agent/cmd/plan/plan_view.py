# SPDX-License-Identifier: Apache-2.0
"""The plans of all nodes as text for people: each of them, or summed up.

The plans of many nodes are grouped: nodes whose plans differ only in their
names and uuids are one group, and only the first groups are printed.
``plan.py`` calls it.
"""

import dataclasses
from collections.abc import Callable, Sequence

from report_client.plan import render

from ... import error_text
from ...cycle.node.node_result import NodeResult
from ...plan.plan import Plan
from ...tree import alike
from ...tree.node import Node
from . import outcomes

MANY = 10  # plans of more nodes are summed up
_GROUPS = 5  # different plans that are printed
_HOW = '--all prints each plan'

_WHEN = 'the next cycle makes them; "compute-agent sync" begins it at once'


def text(results: Sequence[NodeResult], *, every: bool) -> str | None:
    """Return the plans; for several nodes, those with operations and a sum.

    :param every: print each plan, however many there are
    """
    planned = [r for r in results if r.plan is not None or r.notes]
    if not results:
        return 'no nodes'
    if len(results) == 1:
        shown = planned
    else:
        shown = [r for r in planned if r.notes or plan(r).says_anything()]
    plans = [
        (r.node, render.text(plan(r), r.node.called, r.waits)) for r in shown
    ]
    texts = [each for _, each in plans]
    if len(plans) > MANY and not every:
        texts = summed_up(plans, _HOW)
    if len(results) > 1:
        is_many = len(results) > MANY and not every
        if is_many and any(r.reason for r in results):
            texts.append('\n'.join(outcomes.of_nodes(map(_outcome, results))))
        made = [(plan(r), r.waits) for r in planned]
        texts.append(render.total(made, len(results)))
    return '\n\n'.join(texts) if texts else None


def unplanned(results: Sequence[NodeResult], *, every: bool) -> list[str]:
    """Return the reasons of the nodes that have no plan, a line for each.

    :param every: give each node its line, however many there are
    """
    same: dict[str, list[Node]] = {}
    for result in results:
        if result.plan is None:
            why = _pattern(result.node, result.reason)
            key = result.node.uuid if every else why
            same.setdefault(key, []).append(result.node)
    reasons = {r.node.uuid: r.reason for r in results}
    return [
        first.line(reasons[first.uuid])
        + (f' (the same for {_counted(others)})' if others else '')
        for first, *others in same.values()
    ]


def plan(result: NodeResult) -> Plan:
    """Return a node's plan, with the reason if the node is not done.

    A node that could not be planned has an empty plan.
    """
    made = result.plan
    if made is not None and result.approved:
        said = [f'{line}; {_WHEN}' for line in result.approved]
        made = dataclasses.replace(made, notes=(*made.notes, *said))
    if made is not None and result.reserves:
        made = dataclasses.replace(
            made, operations=(*result.reserves, *made.operations)
        )
    if made is not None and made.faults == result.lines():
        return made
    empty = Plan(
        node_uuid=result.node.uuid,
        operations=(),
        before={},
        notes=result.notes,
    )
    return dataclasses.replace(made or empty, faults=result.lines())


def summed_up(
    told: Sequence[tuple[Node, str]],
    how: str,
    same: Callable[[Node, str], str] | None = None,
) -> list[str]:
    """Return the largest groups of equal texts, and a line about the others.

    :param told: each node with the text about it
    :param how: how to see each
    :param same: returns an equal text for nodes that are one group
    """
    groups: dict[str, list[tuple[Node, str]]] = {}
    for node, said in told:
        key = (same or _pattern)(node, said)
        groups.setdefault(key, []).append((node, said))
    ordered = sorted(groups.values(), key=len, reverse=True)
    texts = [_group(group, how) for group in ordered[:_GROUPS]]
    others = ordered[_GROUPS:]
    if others:
        nodes = sum(map(len, others))
        texts.append(
            f'{len(others)} more, for {error_text.counted(nodes, "node")}, are '
            f'not printed; {how}'
        )
    return texts


def _group(group: Sequence[tuple[Node, str]], how: str) -> str:
    """Return the first text of a group, and the other nodes that have it."""
    (_, said), *others = group
    if not others:
        return said
    named = error_text.few([str(node) for node, _ in others], alike.FEW)
    return (
        f'{said}\n  the same for {_counted([n for n, _ in others])}: '
        f'{named} ({how})'
    )


def _counted(others: Sequence[Node]) -> str:
    return f'{len(others)} other node{"" if len(others) == 1 else "s"}'


def _outcome(result: NodeResult) -> tuple[str, Node, str]:
    """Return a node's row in the table: what sync would do, or why not."""
    node = result.node
    if result.reason:
        return result.status.value, node, node.shortened(result.reason)
    changes = result.plan is not None and result.plan.operations
    return 'changes' if changes else render.NOTHING, node, ''


def _pattern(node: Node, planned: str) -> str:
    return alike.pattern(planned, node.called, node.name)
