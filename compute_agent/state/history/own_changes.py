# SPDX-License-Identifier: Apache-2.0
"""The command of this agent that changed a name which a cycle now restores.

Placement does not say who wrote. The history has what the commands on this host
wrote, so the note about a restored name can say it. The planner asks; it reads
the history only if something is restored.
"""

from ... import error_text
from ...plan.change import Change
from ...plan.history_entry import OTHERS, Result
from ...tree import provider
from ...tree.assertion import Kind
from .history import History

_MOST = 500  # entries that are looked at


class OwnChanges:
    """Tells which change of a name this agent or its commands made."""

    def __init__(self, history: History) -> None:
        self._history = history

    def author(self, one: provider.Provider, kind: Kind, name: str) -> str:
        """Return who made a name what it is, and when.

        Return an empty text if that was another writer, or is not known.

        :param one: the provider as it is
        """
        for past in self._history.about(one.uuid, _MOST):
            for change in past.entry.changes:
                if (change.kind, change.name) != (kind, name):
                    continue
                if past.entry.result is Result.REFUSED:
                    continue
                if past.entry.by == OTHERS or not _is_so(one, kind, change):
                    return ''
                at = error_text.moment(past.at)
                return f'compute-agent {past.entry.by} at {at}'
        return ''


def _is_so(one: provider.Provider, kind: Kind, change: Change) -> bool:
    """Return True if a name is as the change left it."""
    if kind is Kind.INVENTORY:
        return one.inventories.get(change.name) == change.after
    return (change.name in one.names_of(kind)) is change.exists
