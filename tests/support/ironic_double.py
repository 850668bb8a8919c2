# SPDX-License-Identifier: Apache-2.0
"""A double of Ironic's lists of nodes, with a database that a test controls.

It takes the place of ``drivers.ironic.client.connection.Connection``. It sorts
and pages as Ironic 39 does, also by a time that some nodes lack: SQLite and
MySQL list these last, PostgreSQL first, and a page whose marker is such a node
leaves out nodes with a time. A transaction may be committed long after it set
the time of its row, and Ironic's clock may differ from the true one.
"""

import collections
import copy
import dataclasses
import datetime as dt
import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib import parse

from drivers.ironic.nodes import answers

_BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_FILTERS = ('shard', 'conductor_group')


@dataclasses.dataclass(kw_only=True)
class Row:
    """A node's row in the database; the times are in seconds.

    :ivar committed: the true time at which the last change of it showed
    :ivar is_dirty: the last change did not move ``updated_at``
    """

    number: int
    fields: dict[str, Any]
    created_at: float | None
    updated_at: float | None = None
    committed: float = 0.0
    is_dirty: bool = False

    @property
    def uuid(self) -> str:
        """The node's uuid."""
        found: str = self.fields['uuid']
        return found


class IronicDouble:
    """Nodes, and the answers about them.

    :param nulls_first: as PostgreSQL does
    :param whole_seconds: as MySQL does
    :ivar now: the true time, in seconds
    :ivar ahead: seconds that Ironic's clock is ahead of the true time
    :ivar pending: the time and the rest of each transaction under way
    :ivar sent: the requests so far
    :ivar before: called with each request; may raise, or change nodes
    :ivar children: nodes that are counted and not listed
    """

    where = 'Ironic at http://ironic.test:6385'

    def __init__(
        self,
        *,
        nulls_first: bool = False,
        whole_seconds: bool = False,
        most: int = 1000,
    ) -> None:
        self.now = 1000.0
        self.ahead = 0.0
        self.rows: dict[str, Row] = {}
        self.sent: list[str] = []
        self.before: Callable[[str], object] = lambda _path: None
        self.children = 0
        self._nulls_first = nulls_first
        self._whole_seconds = whole_seconds
        self._most = most
        self._made = 0
        self.pending: list[tuple[float, Callable[[], object]]] = []

    # --- what happens to nodes ------------------------------------------------

    def clock(self) -> float:
        """Return the true time."""
        return self.now

    def stamp(self) -> float:
        """Return what Ironic's clock says, as its database keeps it."""
        time = self.now + self.ahead
        return float(round(time)) if self._whole_seconds else time

    def pass_time(self, seconds: float) -> None:
        """Let time pass; transactions are committed when they are due."""
        end = self.now + seconds
        for due, commit in sorted(self.pending, key=lambda one: one[0]):
            if due <= end:
                self.now = max(self.now, due)
                self.pending.remove((due, commit))
                commit()
        self.now = end

    def add(self, **fields: Any) -> str:
        """Create a node; return its uuid."""
        self._made += 1
        made = {
            'uuid': str(uuid.UUID(int=self._made, version=4)),
            'name': f'node-{self._made}',
            'resource_class': 'gold',
            'traits': ['CUSTOM_NVME'],
            'power_state': 'power off',
            'provision_state': 'available',
            'maintenance': False,
            'instance_uuid': None,
            'shard': None,
            'conductor_group': '',
            **fields,
        }
        row = Row(number=self._made, fields=made, created_at=self.stamp())
        row.committed = self.now
        self.rows[row.uuid] = row
        return row.uuid

    def change(self, ident: str, late: float = 0.0, **fields: Any) -> None:
        """Change fields of a node, and its time.

        :param late: seconds until the transaction is committed
        """
        stamp = self.stamp()
        self._commit(late, lambda: self._write(ident, stamp, fields))

    def write_traits(self, ident: str, *traits: str) -> None:
        """Write traits alone, as within a lock; this moves no time."""
        self._write(ident, None, {'traits': sorted(traits)})

    def set_traits(self, ident: str, *traits: str) -> None:
        """Lock a node, write its traits and give the lock back."""
        self.change(ident)
        self.write_traits(ident, *traits)
        self.change(ident)

    def delete(self, ident: str) -> None:
        """Delete a node."""
        del self.rows[ident]

    def backup(self) -> dict[str, Row]:
        """Return a copy of the database."""
        return copy.deepcopy(self.rows)

    def restore(self, rows: Mapping[str, Row]) -> None:
        """Put a copy in the place of the database."""
        self.rows = copy.deepcopy(dict(rows))
        for row in self.rows.values():
            row.committed = self.now
        self.pending.clear()

    def _commit(self, late: float, commit: Callable[[], object]) -> None:
        if late:
            self.pending.append((self.now + late, commit))
        else:
            commit()

    def _write(
        self, ident: str, stamp: float | None, fields: Mapping[str, Any]
    ) -> None:
        row = self.rows.get(ident)
        if row is not None:
            row.fields |= fields
            row.committed = self.now
            row.is_dirty = stamp is None
            if stamp is not None:
                row.updated_at = stamp

    # --- what it answers ------------------------------------------------------

    def request(self, method: str, path: str, body: object = None) -> object:
        """Return the body of an answer, as a connection does."""
        del body
        self.sent.append(f'{method} {path}')
        self.before(path)
        place, _, text = path.partition('?')
        query = dict(parse.parse_qsl(text, keep_blank_values=True))
        last = place.rpartition('/')[2]
        if place == '/v1/shards':
            return self._counts()
        if place == '/v1/nodes' or last == 'detail':
            return self._page(query, detail=last == 'detail')
        return self._shown(self._row(parse.unquote(last)), query.get('fields'))

    def visible(self, filters: Mapping[str, str]) -> list[Row]:
        """Return the nodes in a shard or a conductor group."""
        return [
            row
            for row in self.rows.values()
            if all(row.fields[k] == v for k, v in filters.items())
        ]

    def _counts(self) -> object:
        counts = collections.Counter(
            str(row.fields['shard']) for row in self.rows.values()
        )
        if self.children:
            counts['None'] += self.children
        return {'shards': [{'name': k, 'count': n} for k, n in counts.items()]}

    def _page(self, query: Mapping[str, str], *, detail: bool) -> object:
        key, down = query.get('sort_key', 'id'), query.get('sort_dir')
        key = 'number' if key == 'id' else key
        rows = self._sorted(query, key, reverse=down == 'desc')
        limit = min(int(query['limit']), self._most)
        if 'marker' in query:
            marker = self._row(query['marker'])
            rows = [r for r in rows if _is_behind(r, marker, key, down)]
        fields = None if detail else query.get('fields')
        body: dict[str, Any] = {
            'nodes': [self._shown(row, fields) for row in rows[:limit]]
        }
        if body['nodes'] and len(rows) >= limit:
            body['next'] = 'http://10.255.0.1:1/v1/nodes?marker=elsewhere'
        return body

    def _sorted(
        self, query: Mapping[str, str], key: str, *, reverse: bool
    ) -> list[Row]:
        filters = {k: query[k] for k in _FILTERS if k in query}
        rows = self.visible(filters)
        rows.sort(key=lambda row: row.number, reverse=reverse)
        there = [row for row in rows if getattr(row, key) is not None]
        nulls = [row for row in rows if getattr(row, key) is None]
        there.sort(key=lambda row: getattr(row, key), reverse=reverse)
        first = self._nulls_first if reverse else not self._nulls_first
        return nulls + there if first else there + nulls

    def _row(self, ident: str) -> Row:
        if ident in self.rows:
            return self.rows[ident]
        fault = f'Node {ident} could not be found.'
        raise answers.NotFound(f'GET answered 404: {fault}', fault)

    def _shown(self, row: Row, fields: str | None) -> dict[str, Any]:
        shown = json.loads(json.dumps(row.fields))
        if fields is not None:
            return {name: shown[name] for name in fields.split(',')}
        return {
            **shown,
            'created_at': _text(row.created_at),
            'updated_at': _text(row.updated_at),
        }


def _is_behind(row: Row, marker: Row, key: str, down: str | None) -> bool:
    """Return True if a row comes after the marker, as oslo.db compares."""
    sign = -1 if down == 'desc' else 1
    after = sign * (row.number - marker.number) > 0
    time, at = getattr(row, key), getattr(marker, key)
    if at is None:
        return after
    if time is None:
        return False
    return sign * (time - at) > 0 or (time == at and after)


def _text(time: float | None) -> str | None:
    if time is None:
        return None
    return (_BEGIN + dt.timedelta(seconds=time)).isoformat()
