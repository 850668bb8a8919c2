# SPDX-License-Identifier: Apache-2.0
"""A share's lease and record in memory, with outages and lost commits.

It has the methods of the record in a database that several agents share
(``compute_agent/state/replica.py`` has the Protocol), so the tests of agents
need no database server.
"""

import copy
import dataclasses
import typing
from collections.abc import Sequence

from compute_agent import errors
from compute_agent.state import replica

Row: typing.TypeAlias = tuple[typing.Any, ...]


@dataclasses.dataclass(kw_only=True)
class Content:
    """What the database has: the lease's row, and the rows of the record."""

    epoch: int = 0
    beat: int = 0
    holder: int = 0  # for tests in which lost commits repeat an epoch
    documents: dict[str, tuple[int, str | None]] = dataclasses.field(
        default_factory=dict
    )
    history: list[tuple[int, Row]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Changes:
    """The documents that were committed after some sequence."""

    sequence: int
    documents: dict[str, str | None]


class SharedInMemory:
    """One share in a database.

    :ivar away: True while nothing answers
    :ivar loses_answer: ``'before'`` or ``'after'`` to let the next commit fail,
        before or after it is carried out
    :ivar commits: the number of commits
    """

    def __init__(self) -> None:
        self.content = Content()
        self.away = False
        self.loses_answer: str | None = None
        self.commits = 0

    # --- the lease ------------------------------------------------------------

    def take(self) -> int:
        """Give the lease to the caller; return its epoch."""
        self._answer()
        self.content.epoch += 1
        self.content.beat += 1
        return self.content.epoch

    def beat(self, epoch: int) -> int:
        """Write the lease's row; return the sequence."""
        self._answer()
        return self._beat(epoch)

    # --- the record -----------------------------------------------------------

    def commit(
        self,
        epoch: int,
        documents: replica.Documents,
        history: Sequence[replica.HistoryRow] = (),
        moved: typing.Any = None,
    ) -> int:
        """Put documents in the record; return the commit's sequence.

        :param moved: nothing, because there is one share
        """
        assert not moved
        self._answer()
        how, self.loses_answer = self.loses_answer, None
        if how == 'before':
            raise errors.Unavailable('the shared database does not answer')
        sequence = self._beat(epoch)
        self.commits += 1
        for key, text in documents.items():
            self.content.documents[key] = sequence, text
        self.content.history += [(sequence, tuple(row)) for row in history]
        if how:
            raise errors.Unavailable('the shared database does not answer')
        return sequence

    def changed(self, since: int) -> Changes:
        """Return the documents that were committed after a sequence."""
        self._answer()
        return Changes(
            self.content.beat,
            {
                key: text
                for key, (sequence, text) in self.content.documents.items()
                if sequence > since
            },
        )

    def history(self, since: int) -> list[Row]:
        """Return the entries that were committed after a sequence."""
        self._answer()
        return [
            row for sequence, row in self.content.history if sequence > since
        ]

    # --- what goes wrong ------------------------------------------------------

    def copied(self) -> Content:
        """Return what an asynchronous replica has now."""
        return copy.deepcopy(self.content)

    def fail_over(self, earlier: Content) -> None:
        """Go on with an earlier copy: the commits since are lost."""
        self.content = copy.deepcopy(earlier)

    def _answer(self) -> None:
        if self.away:
            raise errors.Unavailable('the shared database does not answer')

    def _beat(self, epoch: int) -> int:
        if epoch != self.content.epoch:
            raise errors.Deposed('another agent holds the share')
        self.content.beat += 1
        return self.content.beat
