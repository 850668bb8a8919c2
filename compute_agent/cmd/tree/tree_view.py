# SPDX-License-Identifier: Apache-2.0
"""Rendering of a node's providers: a drawn tree, or plain data."""

import shutil
import typing
from collections.abc import Sequence

from ... import error_text
from ...tree import inventory, provider
from ...tree.node import Node

_COLUMNS = 100


def text(node: Node, providers: provider.Snapshot, out: typing.TextIO) -> str:
    """Return the drawn trees, in colour if ``out`` is a terminal."""
    from rich import console, markup, tree  # noqa: PLC0415 (few runs draw)

    if node.uuid not in providers:
        return f'{node}: not in placement yet'
    branches: dict[str, tree.Tree] = {}
    roots = []
    for uuid, row in providers.items():
        name = node.called if uuid == node.uuid else row.name
        called = error_text.printable(name)
        label = f'[bold]{markup.escape(called)}[/bold]'
        label += f' ({uuid})' if called != uuid else ''
        parent = branches.get(str(row.parent_uuid))
        branch = tree.Tree(label) if parent is None else parent.add(label)
        if parent is None:
            roots.append(branch)
        for line in _lines(row):
            branch.add(markup.escape(line))
        branches[uuid] = branch
    drawing = console.Console(
        force_terminal=out.isatty(),
        width=shutil.get_terminal_size((_COLUMNS, 0)).columns,
        highlight=False,
    )
    with drawing.capture() as capture:
        for root in roots:
            drawing.print(root)
    return capture.get().rstrip('\n')


def data(node: Node, providers: provider.Snapshot) -> dict[str, typing.Any]:
    """Return the providers as plain data, parents first."""
    return {
        'node': node.called,
        'uuid': node.uuid,
        'providers': [
            {
                'uuid': row.uuid,
                'name': row.name,
                'parent': row.parent_uuid,
                'generation': row.generation,
                'inventories': {
                    rc: record.to_record()
                    for rc, record in sorted(row.inventories.items())
                },
                'traits': sorted(row.traits),
                'aggregates': sorted(row.aggregates),
            }
            for row in providers.values()
        ],
    }


def _lines(shown: provider.Provider) -> Sequence[str]:
    """Return the lines below a provider's name."""
    lines = [
        _inventory(rc, record)
        for rc, record in sorted(shown.inventories.items())
    ]
    if shown.traits:
        lines.append(f'traits: {" ".join(sorted(shown.traits))}')
    if shown.aggregates:
        lines.append(f'aggregates: {" ".join(sorted(shown.aggregates))}')
    return lines


def _inventory(rc: str, record: inventory.Inventory) -> str:
    reserved = f', {record.reserved} reserved' if record.reserved else ''
    ratio = record.allocation_ratio
    factor = f', ratio {ratio:g}' if ratio != 1 else ''
    return f'{rc}: {record.total}{reserved}{factor}'
