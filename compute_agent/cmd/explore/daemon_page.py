# SPDX-License-Identifier: Apache-2.0
"""The daemon's own page: its nodes as the last cycle left them.

The page sends no request and needs no account. What it shows are values that
the cycles replace as a whole, as ``status -f json`` has them. A page is made
once for each cycle, however many read it, and one at a time, so that readers
cost the cycles next to nothing. ``cmd/run/monitors.py`` connects it with the
daemon's server.
"""

import re
import threading
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...tree import provider
from ..control import daemon_data
from ..control.node_states import NodeState, NodeStates
from . import rendering
from .values import amounts, gate, picture, traits

SIZE = 100  # nodes of a page
_KEPT = 64  # pages
_NODE = re.compile('/node/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})')

#: Status, headers and body.
Answer = tuple[int, Sequence[tuple[str, str]], bytes]
Data = dict[str, Any]


class DaemonPage:
    """The pages of one daemon.

    :param states: its nodes
    :param breaker: returns why the circuit breaker is open, or empty
    """

    def __init__(
        self,
        daemon: daemon_data.Daemon,
        states: NodeStates,
        breaker: Callable[[], str],
    ) -> None:
        self._daemon = daemon
        self._states = states
        self._breaker = breaker
        self._making = threading.Lock()
        self._made: dict[str, Answer] = {}
        self._made_of: object = None

    def answer(self, path: str, headers: Mapping[str, str]) -> Answer | None:
        """Return the answer to a request; None if it is for no page.

        :param path: with its query
        :param headers: by name in small letters
        """
        parts = urllib.parse.urlsplit(path)
        if not _is_page(parts.path):
            return None
        asked = gate.Asked(
            method='GET', path=parts.path, query={}, headers=headers
        )
        refused = gate.foreign(asked, ())
        if refused is not None:
            return _sent(rendering.text(refused.status, refused.line))
        file = rendering.file(parts.path)
        if file is not None:
            return _sent(file)
        with self._making:
            now = self._moment()
            if now != self._made_of:
                self._made, self._made_of = {}, now
            known = self._made.get(path)
            if known is None:
                known = self._made[path] = self._page(
                    parts.path, urllib.parse.parse_qs(parts.query)
                )
                if len(self._made) > _KEPT:
                    del self._made[next(iter(self._made))]
            return known

    def _moment(self) -> object:
        """Return a value that changes if a page may change."""
        states, daemon = self._states, self._daemon
        outage = states.outage
        return states.ended, outage and outage.reason, daemon.last_good

    def _page(self, path: str, query: gate.Query) -> Answer:
        form = {
            name: next(iter(query.get(name, ())), '').strip()
            for name in ('search', 'page', 'format')
        }
        found = _NODE.fullmatch(path)
        states = self._states.nodes
        if found is not None and found[1] not in states:
            return _sent(
                rendering.text(404, 'there is no such node: open "/"')
            )
        if found is not None:
            name, data = 'daemon-node', self._node(states[found[1]])
        else:
            name, data = 'daemon', self._nodes(form)
        if form['format'] == 'json':
            return _sent(rendering.as_json(data))
        base = {'name': name, 'where': 'this daemon', 'query': form}
        page = rendering.whole(f'{name}.html', {**base, 'menu': (), **data})
        return _sent(rendering.html(page))

    def _nodes(self, form: Mapping[str, str]) -> Data:
        """Return the daemon's state, and a page of its nodes."""
        data = daemon_data.of(self._daemon, self._states, self._breaker, ())
        wanted = form['search'].casefold()
        nodes = [
            node
            for node in data['nodes']
            if wanted in node['node'].casefold() or wanted in node['uuid']
        ]
        pages = max(1, -(-len(nodes) // SIZE))
        number = form['page']
        page = int(number) if re.fullmatch('[0-9]{1,6}', number) else 1
        page = min(max(page, 1), pages)
        return {
            **data,
            'form': dict(form),
            'all': len(data['nodes']),
            'count': len(nodes),
            'page': page,
            'pages': pages,
            'nodes': nodes[(page - 1) * SIZE : page * SIZE],
        }

    def _node(self, state: NodeState) -> Data:
        """Return a node with its tree, and what waits for a person."""
        uuid = state.result.node.uuid
        data = daemon_data.of(
            self._daemon, self._states, self._breaker, [uuid]
        )
        providers = _after(state)
        return {
            'node': data['nodes'][0],
            'cycle': data['cycle'],
            'outage': data['outage'],
            'waiting': daemon_data.held_data(self._states, [uuid]),
            'picture': picture.picture(
                [_drawn(one) for one in providers.values()], uuid, uuid
            ),
            'providers': [
                {
                    'uuid': one.uuid,
                    'name': one.name,
                    'traits': traits.grouped(sorted(one.traits)),
                    'aggregates': sorted(one.aggregates),
                }
                for one in providers.values()
            ],
        }


def _is_page(path: str) -> bool:
    return path in {'/', *rendering.FILES} or bool(_NODE.fullmatch(path))


def _sent(reply: rendering.Reply) -> Answer:
    return reply.status, reply.head(), b''.join(reply.body)


def _after(state: NodeState) -> provider.Snapshot:
    """Return a node's providers as its last cycle left them."""
    plan = state.planned.plan if state.planned is not None else None
    if plan is None or state.planned is None:
        return {}
    after = plan.before
    for operation in state.planned.applied:
        after = operation.apply_to(after)
    return after


def _drawn(one: provider.Provider) -> Data:
    """Return a provider for a picture; what is used is not known here."""
    rows = []
    for rc, record in sorted(one.inventories.items()):
        amount = amounts.Amount.of(
            record.total, record.reserved, record.allocation_ratio, 0
        )
        rows.append({'class': rc, **amount.data(), 'used': None})
    return {
        'uuid': one.uuid,
        'name': one.name,
        'parent': one.parent_uuid,
        'amounts': rows,
    }
