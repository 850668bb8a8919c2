# SPDX-License-Identifier: Apache-2.0
"""The results of a cycle that wrote, as text and as data.

``sync`` prints its own cycle, and the daemon's that it asked for.
"""

import collections
import typing
from collections.abc import Iterable, Iterator, Sequence

from report_client.plan import render

from ... import error_text
from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from . import outcomes, plan_view, waiting

_HOW = '-f json has each node'


def text(results: Sequence[NodeResult]) -> str:
    """Return the results of a cycle, and the list of what waits.

    Each node has a line; of several, only those with news. If there are many,
    nodes with equal texts are printed once, and a table has the outcomes of
    all nodes.
    """
    return '\n'.join([*_results(results), *waiting.lines_of(results)])


def _results(results: Sequence[NodeResult]) -> Iterator[str]:
    if len(results) <= 1:
        yield _node(results[0]) if results else 'no nodes'
        return
    news = [r for r in results if r.applied or r.reason or r.notes]
    if len(news) <= plan_view.MANY:
        yield from map(_node, news)
        yield _total(results)
        return
    told = [(r.node, _node(r)) for r in news if not r.reason]
    yield from plan_view.summed_up(told, _HOW)
    if any(r.reason for r in results):
        yield from outcomes.of_nodes(
            (r.status.value, r.node, r.node.shortened(r.reason))
            for r in results
        )
    yield f'{_total(results)}{_verbs(results)}; {_HOW}'


def _total(results: Sequence[NodeResult]) -> str:
    count = collections.Counter(r.status.value for r in results)
    applied = sum(len(r.applied) for r in results)
    return (
        f'{len(results)} nodes: '
        + ', '.join(f'{n} {status}' for status, n in count.items())
        + f'; {error_text.counted(applied, "operation")}'
    )


def _verbs(results: Iterable[NodeResult]) -> str:
    """Return the number of operations of each kind; '' without operations."""
    counts = render.counts(op for r in results for op in r.applied)
    return f' ({counts})' if counts else ''


def _node(result: NodeResult) -> str:
    lines = [node_result.line(result)]
    if not result.reason and not result.applied:
        lines[0] += f', {render.NOTHING}'
    lines += [f'  {render.line(op)}' for op in result.applied]
    lines += [f'  note: {note}' for note in result.notes]
    return '\n'.join(lines)


def data(result: NodeResult) -> dict[str, typing.Any]:
    """Return a node's result."""
    return {
        'node': result.node.called,
        'uuid': result.node.uuid,
        'status': result.status.value,
        'reason': result.reason,
        'operations': [render.operation_data(op) for op in result.applied],
        'notes': list(result.notes),
        'waiting': waiting.node_data([result]),
    }
