# SPDX-License-Identifier: Apache-2.0
"""The state of the daemon as text for people.

Pure: no I/O, configuration, logging or clock. The data comes from
``daemon_data.py`` in the daemon.
"""

import argparse
import typing
from collections.abc import Iterator, Mapping, Sequence

from ... import error_text

MANY = 10  # more nodes are summed up
_REASONS = 10  # different reasons that are printed
_NAMED = 3  # nodes of one reason that are named

Data = Mapping[str, typing.Any]


def lines(data: Data, asked: argparse.Namespace) -> Iterator[str]:
    """Yield the state of the daemon, then that of the nodes.

    :param asked: the options of the command
    """
    yield from _daemon(data)
    if asked.nodes:
        for node in data['nodes']:
            yield from _whole(node)
    elif asked.all or len(data['nodes']) <= MANY:
        for node in data['nodes']:
            yield from _brief(node)
    else:
        yield from _summed_up(data['nodes'])


def late(data: Data, most: float) -> list[str]:
    """Return a line for each node that was not done in so many seconds."""
    last = f'{most:g} s' if most < 10 else error_text.duration(most)
    found = [
        f'{_title(node)}: not done in the last {last}; {_done(node)}'
        for node in data['nodes']
        if node['done_age'] is None or node['done_age'] > most
    ]
    if not data['nodes']:
        return ['no cycle had any node yet']
    return found


def held_lines(data: Data) -> Iterator[str]:
    """Yield the changes that wait for a person, by node."""
    for node in data['nodes']:
        yield f'{_title(node)}, since {node["since"]}:'
        yield from (f'  {change}' for change in node['changes'])
    changes = error_text.counted(data['changes'], 'change')
    yield f'{changes}, digest {data["digest"]}'


def _daemon(data: Data) -> Iterator[str]:
    yield (
        f'compute-agent {data["version"]}, process {data["process"]}, has run '
        f'for {error_text.duration(data["runs_for"])}, since {data["since"]}'
    )
    yield f'last cycle: {_cycle(data["cycle"], data["outage"])}'
    if data['running_since']:
        yield f'a cycle has run since {data["running_since"]}'
    if data['outage']:
        outage, good = data['outage'], data['last_good'] or 'none'
        yield (
            f'outage for {error_text.duration(outage["age"])}, since '
            f'{outage["since"]}: {outage["reason"]}; the last good cycle '
            f'ended: {good}'
        )
    if data['circuit_breaker']:
        yield (
            'the circuit breaker is open, so no write is sent: '
            f'{data["circuit_breaker"]}'
        )
    if data['held']:
        held = data['held']
        yield (
            f'{error_text.counted(held["changes"], "change")} of '
            f'{error_text.counted(len(held["nodes"]), "node")} '
            f'{"has" if held["changes"] == 1 else "have"} waited for approval '
            f'since {held["since"]}: "compute-agent approve" shows and '
            f'approves {"it" if held["changes"] == 1 else "them"}'
        )
    counts = _counts(data['counts'])
    nodes = error_text.counted(sum(data['counts'].values()), 'node')
    yield f'{nodes}: {counts}'


def _cycle(cycle: Data | None, outage: Data | None) -> str:
    """Return what the last cycle did, without a reason that the outage has."""
    if cycle is None:
        return 'none has ended yet'
    trouble = f'; {cycle["trouble"]}' if cycle['trouble'] else ''
    if outage and _is_same(cycle['trouble'], outage['reason']):
        trouble = ''
    return (
        f'ended {error_text.duration(cycle["age"])} ago; began '
        f'{cycle["began"]} and took {cycle["seconds"]:.1f} s: '
        f'{_counts(cycle["counts"])}; '
        f'{error_text.counted(cycle["operations"], "operation")}{trouble}'
    )


def _is_same(one: str, other: str) -> bool:
    """Return True if two reasons differ in nothing but their request ids."""
    plain = error_text.without_request_ids
    return plain(one) == plain(other)


def _brief(node: Data) -> Iterator[str]:
    """Yield the state of a node, and what it waits for."""
    reason = f': {node["reason"]}' if node['reason'] else ''
    yield f'  {_title(node)}: {node["status"]}{reason}; {_done(node)}'
    if node['again']:
        again = error_text.duration(node['again_in'])
        yield (
            '    refused operations are tried again in the first cycle after '
            f'{node["again"]} (in {again})'
        )
    if node['held']:
        wait = 'waits' if node['held'] == 1 else 'wait'
        changes = error_text.counted(node['held'], 'change')
        yield f'    {changes} {wait} for approval'
    if node['contended']:
        items = error_text.counted(node['contended'], 'contended item')
        yield f'    {items}'


def _whole(node: Data) -> Iterator[str]:
    """Yield everything that is known of a node."""
    yield from _brief(node)
    for title, field in (
        ('waits for approval', 'held_changes'),
        ('contended', 'contended_items'),
        ('note', 'notes'),
        ('made in the last cycle', 'operations'),
        ('planned and not made', 'not_made'),
    ):
        yield from (f'    {title}: {line}' for line in node[field])


def _summed_up(nodes: Sequence[Data]) -> Iterator[str]:
    """Yield the nodes that are not done, those of one reason together."""
    groups: dict[tuple[str, str], list[Data]] = {}
    for node in nodes:
        reason = error_text.without_request_ids(node['reason'])
        if node['status'] != 'done' or reason:
            groups.setdefault((node['status'], reason), []).append(node)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (status, reason), some in ordered[:_REASONS]:
        named = ', '.join(map(_title, some[:_NAMED]))
        more = len(some) - _NAMED
        rest = f' and {more} more' if more > 0 else ''
        yield f'  {status}: {named}{rest}: {reason}'
    others = [each for _, some in ordered[_REASONS:] for each in some]
    if others:
        rest = error_text.counted(len(others), 'node')
        yield f'  {rest} more, for other reasons'
    yield '  --all prints every node, "compute-agent status NODE" all of one'


def _done(node: Data) -> str:
    if node['done'] is None:
        return 'not done since the daemon began'
    return (
        f'last done {error_text.duration(node["done_age"])} ago, '
        f'{node["done"]}'
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{number} {name}' for name, number in counts.items())


def _title(node: Data) -> str:
    return f'{node["node"]} ({node["uuid"]})'
