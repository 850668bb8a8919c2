# SPDX-License-Identifier: Apache-2.0
"""The table of outcomes at the end of a command about many things.

``sync``, ``plan`` and ``audit`` end with it: a line for each outcome, with the
number of nodes, or of findings, and the reason. Nodes with reasons that say the
same are one line (``tree/alike.py``). Pure: no I/O, configuration, logging or
clock.
"""

from collections.abc import Iterable, Iterator, Sequence

from ...tree import alike
from ...tree.node import Node

MOST = 10  # reasons that are printed

Row = tuple[str, int, str]


def of_nodes(nodes: Iterable[tuple[str, Node, str]]) -> list[str]:
    """Return the table of these nodes, those without a reason last.

    :param nodes: the status, the node and the reason of each
    """
    plain: dict[str, int] = {}
    told: dict[str, list[tuple[Node, str]]] = {}
    for status, node, reason in nodes:
        if reason:
            told.setdefault(status, []).append((node, reason))
        else:
            plain[status] = plain.get(status, 0) + 1
    groups = [
        (status, group)
        for status, some in told.items()
        for group in alike.groups(some)
    ]
    groups.sort(key=lambda each: -len(each[1].nodes))
    rows = [
        (status, len(group.nodes), f'{group.text}: {group.named}')
        for status, group in groups[:MOST]
    ]
    rows += _others(groups[MOST:])
    rows += [(status, count, '') for status, count in plain.items()]
    return table(('status', 'nodes', 'reason'), rows)


def _others(groups: Sequence[tuple[str, alike.Group]]) -> Iterator[Row]:
    counts: dict[str, int] = {}
    for status, group in groups:
        counts[status] = counts.get(status, 0) + len(group.nodes)
    for status, count in counts.items():
        yield status, count, 'for other reasons'


def table(heads: tuple[str, str, str], rows: Sequence[Row]) -> list[str]:
    """Return a table with the columns of a status, a number and a text."""
    first = max(len(heads[0]), *(len(status) for status, _, _ in rows))
    second = max(len(heads[1]), *(len(str(count)) for _, count, _ in rows))
    return [
        f'{status:{first}}  {count:>{second}}  {text}'.rstrip()
        for status, count, text in (heads, *rows)
    ]
