# SPDX-License-Identifier: Apache-2.0
"""The page of changes with time, author and reason, as ``history`` has them."""

import typing

from ...plan.history_entry import OTHERS, KeptEntry
from .provider_page import history_data
from .this_agent import Data, ThisAgent
from .values.gate import Asked

FIELDS = ('search', 'removals', 'others')
MOST = 200


def data(agent: ThisAgent, asked: Asked) -> Data:
    """Return the last entries that the form asks for, newest first."""
    form = {name: asked.first(name) for name in FIELDS}
    record = agent.record()
    wanted = form['search'].casefold()
    kept = [
        one
        for one in record.entries
        if (not form['removals'] or one.entry.is_removal)
        and (not form['others'] or one.entry.by == OTHERS)
        and (not wanted or any(wanted in text for text in _texts(one)))
    ]
    return {
        'form': form,
        'count': len(kept),
        'history': history_data(agent, kept[-MOST:]),
        'place': record.place,
        'problem': record.problem,
    }


def _texts(one: KeptEntry) -> typing.Iterator[str]:
    """Yield the words of an entry that a search looks at."""
    entry = one.entry
    for text in (entry.provider, entry.uuid, entry.node_uuid, entry.by):
        yield text.casefold()
    for change in entry.changes:
        yield change.name.casefold()
