# SPDX-License-Identifier: Apache-2.0
"""The plans of all nodes as text for people: each of them, or summed up.

The plans of many nodes are grouped: nodes whose plans differ only in their
names and uuids are one group, and only the first groups are printed.
``plan.py`` calls it.
"""

import dataclasses
import re
from collections.abc import Sequence

from report_client.plan import render

from ... import error_text
from ...cycle.node.node_result import NodeResult
from ...plan.plan import Plan
from ...tree.node import Node

MANY = 10  # plans of more nodes are summed up
_GROUPS = 5  # different plans that are printed
_NAMED = 3  # nodes of a group that are named

_WHEN = 'the next cycle makes them; "compute-agent sync" begins it at once'

_PROCESS = re.compile(r'\bprocess \d+')
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')


def text(results: Sequence[NodeResult], *, every: bool) -> str | None:
    """Return the plans; of several nodes the non-empty ones, and a sum.

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
        texts = _summed_up(plans)
    if len(results) > 1:
        made = [(plan(r), r.waits) for r in planned]
        texts.append(render.total(made, len(results)))
    return '\n\n'.join(texts) if texts else None


def unplanned(results: Sequence[NodeResult], *, every: bool) -> list[str]:
    """Return the reasons of the nodes that have no plan, a line for each.

    :param every: give each node its line, however many there are
    """
    alike: dict[str, list[Node]] = {}
    for result in results:
        if result.plan is None:
            why = _pattern(result.node, result.reason)
            key = result.node.uuid if every else why
            alike.setdefault(key, []).append(result.node)
    reasons = {r.node.uuid: r.reason for r in results}
    return [
        first.line(reasons[first.uuid])
        + (f' (the same for {_counted(others)})' if others else '')
        for first, *others in alike.values()
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


def _summed_up(plans: Sequence[tuple[Node, str]]) -> list[str]:
    """Return the largest groups of equal plans, and a line about the others."""
    groups: dict[str, list[tuple[Node, str]]] = {}
    for node, planned in plans:
        groups.setdefault(_pattern(node, planned), []).append((node, planned))
    ordered = sorted(groups.values(), key=len, reverse=True)
    texts = [_group(group) for group in ordered[:_GROUPS]]
    others = ordered[_GROUPS:]
    if others:
        nodes = sum(map(len, others))
        texts.append(
            f'{len(others)} more plans, for {nodes} nodes, are not printed; '
            '--all prints every plan'
        )
    return texts


def _group(group: Sequence[tuple[Node, str]]) -> str:
    """Return the first plan of a group, and the other nodes that have it."""
    (_, planned), *others = group
    if not others:
        return planned
    named = error_text.few([node.called for node, _ in others], _NAMED)
    return (
        f'{planned}\n  the same for {_counted([n for n, _ in others])}: '
        f'{named} (--all prints each plan)'
    )


def _counted(others: Sequence[Node]) -> str:
    return f'{len(others)} other node{"" if len(others) == 1 else "s"}'


def _pattern(node: Node, planned: str) -> str:
    return pattern(planned, node.called, node.name)


def pattern(text: str, *names: str) -> str:
    """Return a text about a node without what only that node has.

    :param names: the names of the node
    """
    text = _PROCESS.sub('process N', _UUID.sub('UUID', text))
    for name in sorted(set(names), key=len, reverse=True):
        text = re.sub(
            rf'(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])', 'NODE', text
        )
    return text
