# SPDX-License-Identifier: Apache-2.0
"""Changes of a daemon's record that a person orders: the records of nodes move.

The thread of the cycles makes them before its next cycle (``CycleRequests.do``),
so none of them happens in the middle of one.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence

from ... import errors
from ...state.state import State
from ...state.values import node_record


def digest(record: node_record.NodeRecord) -> str:
    """Return the digest of a node's record."""
    text = json.dumps(node_record.data(record), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read(text: str | bytes) -> list[node_record.NodeRecord]:
    """Return the records in the output of ``state export``.

    :raises errors.ConfigError: the text is no such output
    """
    try:
        said = json.loads(text)
    except (RecursionError, ValueError) as exc:
        raise errors.ConfigError(
            f'it is not JSON ({exc}); {node_record.WANTED}'
        ) from exc
    every = said if isinstance(said, list) and said else [said]
    return [*map(node_record.from_data, every)]


class Records:
    """The records of nodes, as a daemon's thread of the cycles changes them.

    :param changed: called after records were added
    """

    def __init__(
        self, state: State, changed: Callable[[], object] = bool
    ) -> None:
        self._state = state
        self._changed = changed

    def export(self, words: Sequence[str]) -> list[node_record.NodeRecord]:
        """Return the records of the nodes with these names or uuids, or of all.

        :raises errors.AgentError: a node has no record, or an uncertain one
        """
        every = self._state.nodes.all()
        nodes = [node_record.find(every, word) for word in words]
        return [
            self._state.handover.export_record(one) for one in nodes or every
        ]

    def forget(
        self, nodes: Sequence[str], digests: Sequence[str], who: str
    ) -> None:
        """Drop the records of nodes that a person has exported.

        :param digests: those of the exported records; if one record has
            changed since, no record is dropped
        :raises errors.AgentError: a record has changed, or a node has no
            record
        """
        found = self.export(nodes)
        for one, exported in zip(found, digests, strict=True):
            if digest(one) != exported:
                raise errors.Refused(
                    f'the record of {one.node} has changed since it was '
                    'printed, so nothing was dropped: run the command again'
                )
        with self._by(who):
            for one in found:
                self._state.handover.forget_with_record(one.node.uuid)

    def add(self, given: Sequence[node_record.NodeRecord], who: str) -> None:
        """Add the records of nodes that another agent exported."""
        with self._by(who):
            self._state.handover.import_records(given)
        self._changed()

    @contextlib.contextmanager
    def _by(self, who: str) -> Iterator[None]:
        """Have the history name a person."""
        history = self._state.history
        before, history.by = history.by, who
        try:
            yield
        finally:
            history.by = before
