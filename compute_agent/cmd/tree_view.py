# SPDX-License-Identifier: Apache-2.0
"""A node's providers, drawn for people or listed for programs."""

import shutil
import typing
from collections.abc import Sequence

from .. import error_text
from ..tree import inventory, provider
from ..tree.node import Node

_COLUMNS = 100


def text(node: Node, providers: provider.Snapshot, out: typing.TextIO) -> str:
    """Return the trees, in colour where ``out`` is a terminal."""
    from rich import console, markup, tree  # noqa: PLC0415 (only here)

    if node.uuid not in providers:
        return f'{node}: not in placement yet'
    branches: dict[str, tree.Tree] = {}
    roots = []
    for uuid, one in providers.items():
        name = node.called if uuid == node.uuid else one.name
        called = error_text.printable(name)
        label = f'[bold]{markup.escape(called)}[/bold]'
        label += f' ({uuid})' if called != uuid else ''
        above = branches.get(str(one.parent_uuid))
        branch = tree.Tree(label) if above is None else above.add(label)
        if above is None:
            roots.append(branch)
        for line in _lines(one):
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
                'uuid': one.uuid,
                'name': one.name,
                'parent': one.parent_uuid,
                'generation': one.generation,
                'inventories': {
                    rc: record.to_record()
                    for rc, record in sorted(one.inventories.items())
                },
                'traits': sorted(one.traits),
                'aggregates': sorted(one.aggregates),
            }
            for one in providers.values()
        ],
    }


def _lines(one: provider.Provider) -> Sequence[str]:
    lines = [
        _inventory(rc, record)
        for rc, record in sorted(one.inventories.items())
    ]
    if one.traits:
        lines.append(f'traits: {" ".join(sorted(one.traits))}')
    if one.aggregates:
        lines.append(f'aggregates: {" ".join(sorted(one.aggregates))}')
    return lines


def _inventory(rc: str, record: inventory.Inventory) -> str:
    reserved = f', {record.reserved} reserved' if record.reserved else ''
    ratio = record.allocation_ratio
    times = f', ratio {ratio:g}' if ratio != 1 else ''
    return f'{rc}: {record.total}{reserved}{times}'
