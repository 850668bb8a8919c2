# SPDX-License-Identifier: Apache-2.0
"""The changes that other writers undid, over restarts of the agent.

The table ``undone`` has the histories of the names that were undone within the
last day (``limits/contention.py``). It has no names whose changes nobody
undid.
"""

import json
from collections.abc import Mapping
from typing import Any

from ..limits.item_history import Item, ItemHistory, ItemKey, Made, Rest
from ..tree import assertion, inventory
from .database.database import Database


class Undos:
    """The histories of the names that other writers undid."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> dict[ItemKey, ItemHistory]:
        """Return all histories, those of the oldest changes first."""
        with self._database.reading() as db:
            found = {
                (uuid, assertion.Kind(kind) if kind else None, name): content
                for uuid, kind, name, content in db.execute(
                    'select uuid, kind, name, content from undone'
                )
            }
            histories = {
                key: _history(key, json.loads(content))
                for key, content in found.items()
            }
        return dict(sorted(histories.items(), key=lambda pair: _last(pair[1])))

    def save(self, changed: Mapping[ItemKey, ItemHistory | None]) -> None:
        """Keep these histories; drop those that are None."""
        if not changed:
            return
        with self._database.writing() as db:
            for (uuid, kind, name), history in changed.items():
                key = (uuid, kind.value if kind else '', name)
                if history is None:
                    db.execute(
                        'delete from undone where uuid = ? and kind = ?'
                        ' and name = ?',
                        key,
                    )
                else:
                    db.execute(
                        'replace into undone values (?, ?, ?, ?)',
                        (*key, json.dumps(_data(history))),
                    )


def _last(history: ItemHistory) -> float:
    return max((made.at for made in history.made.values()), default=0.0)


def _data(history: ItemHistory) -> dict[str, Any]:
    return {
        'made': {
            node: {**_state(made.item), 'at': made.at}
            for node, made in history.made.items()
        },
        'undone': [
            {**_state(item), 'times': list(times)}
            for item, times in history.undone.items()
        ],
        'rests': [
            {
                **_state(item),
                'until': rest.until,
                'tried_at': rest.tried_at,
                'makers': sorted(rest.makers),
            }
            for item, rest in history.rests.items()
        ],
    }


def _state(item: Item) -> dict[str, Any]:
    """Return the state that an item gives its name."""
    return {
        'there': item.there,
        'record': None if item.record is None else item.record.values(),
        'nodes': list(item.nodes),
    }


def _history(key: ItemKey, data: Mapping[str, Any]) -> ItemHistory:
    rests = [(_item(key, found), found) for found in data['rests']]
    return ItemHistory(
        made={
            node: Made(item=_item(key, found), at=float(found['at']))
            for node, found in data['made'].items()
        },
        undone={
            _item(key, found): tuple(map(float, found['times']))
            for found in data['undone']
        },
        rests={
            item: Rest(
                item=item,
                until=float(found['until']),
                tried_at=found['tried_at'],
                makers=frozenset(found['makers']),
            )
            for item, found in rests
        },
    )


def _item(key: ItemKey, data: Mapping[str, Any]) -> Item:
    uuid, kind, name = key
    record = data['record']
    return Item(
        uuid=uuid,
        kind=kind,
        name=name,
        there=bool(data['there']),
        record=None
        if record is None
        else inventory.Inventory.from_values(record),
        nodes=tuple(data['nodes']),
    )
