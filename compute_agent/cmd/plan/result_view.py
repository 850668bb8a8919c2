# SPDX-License-Identifier: Apache-2.0
"""The results of a cycle that wrote, as text and as data.

``sync`` prints its own cycle, and the daemon's that it asked for.
"""

import collections
import typing
from collections.abc import Sequence

from report_client.plan import render

from ...cycle.node import node_result
from ...cycle.node.node_result import NodeResult
from . import waiting


def text(results: Sequence[NodeResult]) -> str:
    """Return the results of a cycle, and the list of what waits.

    Each node has a line; of several, only those with news.
    """
    return '\n'.join([_results(results), *waiting.lines_of(results)])


def _results(results: Sequence[NodeResult]) -> str:
    if len(results) <= 1:
        return _node(results[0]) if results else 'no nodes'
    news = [r for r in results if r.applied or r.reason or r.notes]
    count = collections.Counter(r.status.value for r in results)
    applied = sum(len(r.applied) for r in results)
    total = (
        f'{len(results)} nodes: '
        + ', '.join(f'{n} {status}' for status, n in count.items())
        + f'; {applied} operation{"" if applied == 1 else "s"}'
    )
    return '\n'.join([*(_node(r) for r in news), total])


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
