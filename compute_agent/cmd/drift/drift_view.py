# SPDX-License-Identifier: Apache-2.0
"""The drift of a node, as text and as data.

Pure: no I/O, configuration, logging or clock. The marks are those of a plan,
from the agreed state to that in placement: + added, - removed, ~ changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from report_client.plan import render

from ...ownership.explanations.drift import Drift
from ...plan.change import Change
from ...tree import inventory
from ...tree.node import Node

NONE = 'no drift'


def total(found: Mapping[Node, Sequence[Drift]]) -> str:
    """Return the drift of many nodes, and their number."""
    drifted = {node: drifts for node, drifts in found.items() if drifts}
    lines = [text(*pair) for pair in drifted.items()]
    count = f'{len(drifted)} of {len(found)} nodes'
    lines.append(f'{len(found)} nodes: {NONE}' if not drifted else count)
    return '\n'.join(lines)


def text(node: Node, found: Sequence[Drift]) -> str:
    """Return a node's drift as lines, by provider."""
    if not found:
        return f'{node}: {NONE}'
    lines, last = [str(node)], ''
    for one in found:
        title = str(one.provider)
        if title != last:
            lines.append(f'  {title}')
            last = title
        lines.append(f'    {_mark(one)}: {one.fate}, {one.why}')
    return '\n'.join(lines)


def data(node: Node, found: Sequence[Drift]) -> dict[str, Any]:
    """Return a node's drift as data."""
    return {
        'node': node.called,
        'uuid': node.uuid,
        'drift': [
            {
                'provider': one.provider.name,
                'uuid': one.provider.uuid,
                'kind': 'provider'
                if one.change.kind is None
                else one.change.kind.value,
                'name': one.change.name,
                'change': _verb(one.change),
                'agreed': _record(one.change.before),
                'placement': _record(one.change.after),
                'next_cycle': one.fate.value,
                'why': one.why,
            }
            for one in found
        ],
    }


def _mark(one: Drift) -> str:
    change = one.change
    if change.kind is None:
        if change.existed and change.exists:
            return f'the provider is {one.text}'
        return f'the provider is {"new" if change.exists else "deleted"}'
    if not change.exists:
        return f'-{change.name}'
    mark = f'{"~" if change.existed else "+"}{change.name}'
    if change.after is None:
        return mark
    if change.before is None:
        return f'{mark} {render.record(change.after)}'
    changed = render.difference(change.before, change.after)
    return f'{mark} {changed}'


def _verb(change: Change) -> str:
    if not change.exists:
        return 'removed'
    return 'changed' if change.existed else 'added'


def _record(record: inventory.Inventory | None) -> dict[str, Any] | None:
    return None if record is None else dict(record.to_record())
