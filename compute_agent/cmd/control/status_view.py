# SPDX-License-Identifier: Apache-2.0
"""The state of the daemon as text for people.

Pure: no I/O, configuration, logging or clock. The data comes from
``daemon_data.py`` in the daemon.
"""

import argparse
import typing
from collections.abc import Iterator, Mapping, Sequence

from ... import error_text
from ...cycle.node import node_result
from ...tree import alike
from ...tree.node import Node
from ..plan import waiting

MANY = 10  # more nodes are summed up
_REASONS = 10  # different reasons that are printed
_EVERY = '; "compute-agent status NODE" prints all of a node, --all every node'

_LEFT = node_result.Status.LEFT.value
_NONE_LISTED = 'the driver lists no node, and {} left its list'

Data = Mapping[str, typing.Any]


def lines(data: Data, asked: argparse.Namespace) -> Iterator[str]:
    """Yield the state of the daemon, then that of the nodes.

    :param asked: the options of the command
    """
    is_brief = not (asked.nodes or asked.all or len(data['nodes']) <= MANY)
    yield from _daemon(data, _EVERY if is_brief else '')
    yield from shares(data.get('shares', ()))
    if is_brief:
        yield from _summed_up(data['nodes'])
    for node in () if is_brief else data['nodes']:
        yield from _whole(node) if asked.nodes else _brief(node)


def shares(found: Sequence[Data]) -> Iterator[str]:
    """Yield a line for each share in the shared database and each agent."""
    for share in found:
        holder, name = share['holder'], share['share']
        if holder is None:
            yield f'share {name}: no agent reports it (epoch {share["epoch"]})'
        else:
            able = '' if share['able'] else ', could not report'
            yield (
                f'share {name}: {_member(holder)} reports it (epoch '
                f'{share["epoch"]}), {_beat(share)}{able}'
            )
        for one in share['standbys']:
            able = '' if one['able'] else ', could not report now'
            lag = one['behind'] and f'{one["behind"]} beats behind'
            has = lag or 'has the whole record'
            yield f'  {_member(one)} stands by: {has}{able}'


def _member(one: Data) -> str:
    return f'{one["host"]} (process {one["process"]}, since {one["since"]})'


def _beat(share: Data) -> str:
    """Return when the holder beat, by the clock of this machine."""
    if share['beat_age'] is None:
        return f'has not beaten for {share["looked_for"]:.1f} s'
    return f'beat {share["beat_age"]:.1f} s ago'


def late(data: Data, most: float) -> list[str]:
    """Return a line for each node that was not done in so many seconds."""
    listed = [node for node in data['nodes'] if node['status'] != _LEFT]
    if not listed:
        left = len(data['nodes'])
        return [_NONE_LISTED.format(left) if left else 'no node is known']
    last = f'{most:g} s' if most < 10 else error_text.duration(most)
    return [
        f'{_title(node)}: not done in the last {last}; {_done(node)}'
        for node in listed
        if node['done_age'] is None or node['done_age'] > most
    ]


def _daemon(data: Data, hint: str) -> Iterator[str]:
    """Yield the state of the daemon.

    :param hint: the end of the line that counts the nodes
    """
    yield (
        f'compute-agent {data["version"]}, agent {data["agent"]} of share '
        f'{data["share"]}, process {data["process"]}, has run for '
        f'{error_text.duration(data["runs_for"])}, since {data["since"]}'
    )
    if data['membership']:
        yield from _membership(data['membership'])
    runs = ''
    if data['running_since']:
        runs = (
            f'; a cycle has run since {data["running_since"]}'
            f'{_progress(data["progress"])}'
        )
    yield f'last cycle: {_cycle(data["cycle"], data["outage"])}{runs}'
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
        yield from waiting.lines(data['held'])
    counts = node_result.counted(data['counts'])
    nodes = error_text.counted(sum(data['counts'].values()), 'node')
    yield f'{nodes}: {counts}{hint}'


def _progress(found: Data | None) -> str:
    """Return how far a cycle is; empty as long as no node is finished."""
    if found is None:
        return ''
    said = (
        f': {found["done"]} of {error_text.counted(found["nodes"], "node")}, '
        f'{error_text.counted(found["writes"], "write")}'
    )
    if found['remaining'] is None:
        return said
    return (
        f'{said}, {found["rate"]:.1f} nodes/s, about '
        f'{error_text.duration(found["remaining"])} remain'
    )


def _membership(share: Data) -> Iterator[str]:
    """Yield the part of the agent in its share."""
    if share['role'] == 'standby':
        able = '' if share['able'] else ', and could not report now'
        yield f'stands by{able}: {share["holder"]}'
    else:
        others = ', '.join(share['standbys']) or 'no other agent'
        yield (
            f'reports the share {share["share"]} (epoch {share["epoch"]}); '
            f'standing by: {others}'
        )
    if share['giving_up']:
        yield f'gives the share up: {share["giving_up"]}'
    if share['database']:
        yield f'nothing is written: {share["database"]}'


def _cycle(cycle: Data | None, outage: Data | None) -> str:
    """Return what the last cycle did, without the reason for an outage."""
    if cycle is None:
        return 'none has ended yet'
    trouble = f'; {cycle["trouble"]}' if cycle['trouble'] else ''
    if outage and _is_same(cycle['trouble'], outage['reason']):
        trouble = ''
    return (
        f'ended {error_text.duration(cycle["age"])} ago; began '
        f'{cycle["began"]} and took {cycle["seconds"]:.1f} s: '
        f'{node_result.counted(cycle["counts"])}; '
        f'{error_text.counted(cycle["operations"], "operation")}{trouble}'
    )


def _is_same(one: str, other: str) -> bool:
    """Return True if two reasons differ in nothing but their request ids."""
    plain = error_text.without_request_ids
    return plain(one) == plain(other)


def _brief(node: Data) -> Iterator[str]:
    """Yield the lines with a node's state, and what it waits for."""
    yield f'  {_title(node)}: {_state(node)}; {_done(node)}'
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
    """Yield the nodes that are not done, grouped by their reasons."""
    found = alike.groups(
        (_node(one), _state(one))
        for one in nodes
        if one['status'] != 'done' or one['reason']
    )
    found.sort(key=lambda group: -len(group.nodes))
    yield from (f'  {group.line()}' for group in found[:_REASONS])
    others = sum(len(group.nodes) for group in found[_REASONS:])
    if others:
        rest = error_text.counted(others, 'node')
        yield f'  {rest} more, for other reasons'


def _state(node: Data) -> str:
    return ': '.join(filter(None, (node['status'], node['reason'])))


def _done(node: Data) -> str:
    if node['done'] is None:
        return 'not done since the daemon began'
    return (
        f'last done {error_text.duration(node["done_age"])} ago, '
        f'{node["done"]}'
    )


def _title(node: Data) -> str:
    return str(_node(node))


def _node(data: Data) -> Node:
    return Node(uuid=data['uuid'], name=data['node'])
