# SPDX-License-Identifier: Apache-2.0
"""The state of the daemon as text for people.

Pure: no I/O, configuration, logging or clock. The data comes from
``daemon_data.py`` in the daemon.
"""

import argparse
import re
import typing
from collections.abc import Iterator, Mapping, Sequence

from ... import error_text
from ...cycle.node import node_result
from ..plan import waiting

MANY = 10  # more nodes are summed up
_REASONS = 10  # different reasons that are printed
_NAMED = 3  # nodes of one reason that are named

_LEFT = node_result.Status.LEFT.value
_NONE_LISTED = 'the driver lists no node, and {} left its list'

Data = Mapping[str, typing.Any]


def lines(data: Data, asked: argparse.Namespace) -> Iterator[str]:
    """Yield the state of the daemon, then that of the nodes.

    :param asked: the options of the command
    """
    yield from _daemon(data)
    yield from shares(data.get('shares', ()))
    if asked.nodes:
        for node in data['nodes']:
            yield from _whole(node)
    elif asked.all or len(data['nodes']) <= MANY:
        for node in data['nodes']:
            yield from _brief(node)
    else:
        yield from _summed_up(data['nodes'])


def shares(found: Sequence[Data]) -> Iterator[str]:
    """Yield each share in the shared database, and each agent of it."""
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


def _daemon(data: Data) -> Iterator[str]:
    yield (
        f'compute-agent {data["version"]}, process {data["process"]}, has run '
        f'for {error_text.duration(data["runs_for"])}, since {data["since"]}'
    )
    yield f'agent {data["agent"]} of share {data["share"]}'
    if data['membership']:
        yield from _membership(data['membership'])
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
        yield from waiting.lines(data['held'])
    counts = node_result.counted(data['counts'])
    nodes = error_text.counted(sum(data['counts'].values()), 'node')
    yield f'{nodes}: {counts}'


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
    """Return what the last cycle did, without a reason that the outage has."""
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
    """Yield the nodes that are not done, those of one reason together.

    Reasons that differ in nothing but the name of the node are one.
    """
    groups: dict[tuple[str, str], list[Data]] = {}
    for node in nodes:
        reason = error_text.without_request_ids(node['reason'])
        if node['status'] != 'done' or reason:
            alike = _nameless(reason, node['node'])
            groups.setdefault((node['status'], alike), []).append(node)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (status, alike), some in ordered[:_REASONS]:
        named = error_text.few([*map(_title, some)], _NAMED)
        own = error_text.without_request_ids(some[0]['reason'])
        yield f'  {status}: {named}: {alike if len(some) > 1 else own}'
    others = [each for _, some in ordered[_REASONS:] for each in some]
    if others:
        rest = error_text.counted(len(others), 'node')
        yield f'  {rest} more, for other reasons'
    yield '  --all prints every node, "compute-agent status NODE" all of one'


def _nameless(reason: str, name: str) -> str:
    """Return a node's reason with "it" in place of the node's name."""
    return re.sub(rf'(?<![\w.-]){re.escape(name)}(?![\w.-])', 'it', reason)


def _done(node: Data) -> str:
    if node['done'] is None:
        return 'not done since the daemon began'
    return (
        f'last done {error_text.duration(node["done_age"])} ago, '
        f'{node["done"]}'
    )


def _title(node: Data) -> str:
    return f'{node["node"]} ({node["uuid"]})'
