# SPDX-License-Identifier: Apache-2.0
"""Reads Ironic's nodes: all of them, or those that have changed.

A list with traits takes Ironic four times as long as one without, and a list
at all a hundred times as long as a count of the nodes. A cycle needs no list
if the changes told everything else and Ironic counts as many nodes as the
agent knows: then no node was deleted or left. A list without traits is enough
if the changes certainly told all traits. It is not:

* at the first list, and after ``[ironic] full_listing_interval``;
* if nobody asked for the changes in the last ten minutes, or before the list with
  traits. Somebody who has not asked since the last list may be late, because his
  cycle takes long;
* if a walk failed or gave up;
* if the newest time went back, because Ironic's database may be an older one;
* if a list shows a change that the walks should have told. Perhaps Ironic's
  clock was set back, so the walks do not count until they find a newer time
  than ever before.

The agent calls this in one thread. Other threads look at ``reading``, which is
replaced as a whole.
"""

import dataclasses
import datetime as dt
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from compute_agent import errors

from .client import api as client
from .nodes import answers, reading, watermark

LOG = logging.getLogger(__name__)

INTERVAL = 3600.0
#: Seconds after which the nodes are listed although Ironic's count is right, and
#: with traits if nobody asked for the changes as long.
LIST_INTERVAL = 600.0
_MOST_ALONE = 50  # nodes that are read one by one; more are listed
_Marks = Mapping[str, watermark.Mark]  # by the key of the walk


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Walked:
    """The walks of one question.

    :ivar quiet: the keys that needed no walk
    :ivar now: seconds of the clock, after them
    """

    walks: Sequence[watermark.Walk]
    quiet: Collection[str]
    now: float

    def moved(self, marks: _Marks, overlap: float) -> _Marks:
        """Return the marks after the walks; a blind walk leaves no mark."""
        return {key: marks[key] for key in self.quiet if key in marks} | {
            walk.key: walk.moved(marks.get(walk.key), self.now, overlap)
            for walk in self.walks
            if not walk.is_blind
        }


class Reader:
    """The nodes of one Ironic, as they were last read.

    :param full_interval: seconds after which the traits of all nodes are
        listed again, even if no change was missed
    :param clock: returns seconds; it is never set back
    :ivar reading: the last list, with the changes since then
    :ivar marks: how far the changes were read
    :ivar is_behind: True from when a walk gave up until the next list
    """

    def __init__(
        self,
        api: client.Api,
        *,
        full_interval: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._full_interval = full_interval
        self._clock = clock
        self.reading = reading.Reading()
        self.marks: _Marks = {}
        self.is_behind = False
        # The walks before a list go down to the marks of the list before it,
        # so they find what appeared too late for the walks in between.
        self._marks_of_list: _Marks = {}
        self._listed_at: float | None = None  # with traits
        self._named_at = 0.0  # with traits or without
        self._counts = True  # this Ironic says how many nodes there are
        self._number: int | None = None  # of nodes, before the last list
        self._is_counted = False  # it was right in the last list
        self._asked_at: float | None = None  # what changed
        self._is_sound = True  # none was missed since the list with traits
        self._doubted: dt.datetime | None = None
        self._said = ''

    def read_all(self) -> None:
        """Read all nodes.

        :raises errors.AgentError: the list is incomplete; the last reading
            stays
        """
        if (
            self._is_followed()
            and self._is_sound
            and not self._is_due()
            and self._catch_up()
            and (self._is_complete() or self._list_without_traits())
        ):
            return
        marks = self.marks
        if marks and not self._is_sound:
            marks = self._newest()
        began = self._clock()
        self.reading = reading.Reading.from_listing(self._api.nodes())
        self._listed_at = self._named_at = began
        self._is_counted, self._counts = False, True
        # The list had all rows that appeared below the marks until then.
        self.marks = self._marks_of_list = {
            key: dataclasses.replace(mark, read=began)
            for key, mark in marks.items()
        }
        self.is_behind = bool(marks) and not _are_whole(marks)
        self._is_sound = self._can_follow()

    def read_changes(self) -> Sequence[str]:
        """Read the nodes that have changed; return their names.

        :raises errors.AgentError: a walk failed; the last reading stays
        """
        before = self.reading
        if not self.is_behind:
            try:
                self._follow(self.marks, watermark.OVERLAP)
            except errors.AgentError:
                self._is_sound = False
                raise
            if not self.is_behind:
                self._said = ''
        self._asked_at = self._clock()
        return self.reading.differing(before)

    def _is_followed(self) -> bool:
        """Return True if somebody asks for the changes."""
        if self._asked_at is None:
            return False
        return self._clock() - self._asked_at < LIST_INTERVAL

    def _is_due(self) -> bool:
        """Return True if it is time for a list with traits."""
        if self._listed_at is None:
            return True
        return self._clock() - self._listed_at >= self._full_interval

    def _can_follow(self) -> bool:
        """Return True if the walks tell all changes after a list."""
        if not _are_whole(self.marks):
            return False
        newest = self.marks[watermark.UPDATED].newest
        if self._doubted is None:
            return True
        return newest is not None and newest > self._doubted

    def _catch_up(self) -> bool:
        """Read the changes since the last list; return True if all are told."""
        marks = self._marks_of_list
        try:
            walked = self._follow(marks, watermark.LONG_OVERLAP)
            self._marks_of_list = walked.moved(marks, watermark.LONG_OVERLAP)
        except errors.AgentError as exc:
            LOG.debug('traits are listed, because a walk failed: %s', exc)
            self._is_sound = False
        return self._is_sound

    def _newest(self) -> _Marks:
        """Return marks at the newest times, because a list follows."""
        try:
            walked = self._walk({}, watermark.OVERLAP)
            return walked.moved(self.marks, watermark.OVERLAP)
        except errors.AgentError as exc:
            LOG.debug('the newest times of nodes are not known: %s', exc)
            return {}

    def _follow(self, marks: _Marks, overlap: float) -> _Walked:
        """Take the changes since these marks into the reading."""
        walked = self._walk(marks, overlap)
        for walk in walked.walks:
            self._judge(walk)
        self.marks = walked.moved(self.marks, watermark.OVERLAP)
        if self._listed_at is not None:
            found: answers.Found = {}
            for walk in walked.walks:
                found |= walk.found
            self.reading = self.reading.with_changes(found)
        return walked

    def _walk(self, marks: _Marks, overlap: float) -> _Walked:
        """Read the changes since these marks.

        :param marks: the marks; for a key without a mark, only the newest time
            is read
        """
        now = self._clock()
        last = self._api.last()
        created = marks.get(watermark.CREATED)
        is_quiet = created is not None and created.is_quiet(last, overlap)
        quiet = (watermark.CREATED,) if is_quiet else ()
        walks = [
            watermark.Walk(
                key,
                marks.get(key),
                overlap=overlap,
                now=now,
                most=client.LIMIT,
                last=last,
            )
            for key in watermark.KEYS
            if key not in quiet
        ]
        for walk in walks:
            self._api.walk(walk)
        return _Walked(walks=walks, quiet=quiet, now=self._clock())

    def _judge(self, walk: watermark.Walk) -> None:
        """Note if changes may be missing after a walk."""
        if walk.gave_up:
            self._is_sound = False
            self.is_behind = True
            if walk.gave_up != self._said:
                LOG.info(
                    'changes of nodes wait for the next list of all nodes, '
                    'because %s',
                    walk.gave_up,
                )
            self._said = walk.gave_up
            return
        went_back = walk.went_back(self.marks.get(walk.key))
        # The newest row by CREATED is also older after a deletion.
        if went_back and walk.key == watermark.UPDATED:
            self._is_sound = False

    def _is_complete(self) -> bool:
        """Return True if the agent knows all the nodes that Ironic has.

        Ironic's count is believed if it was right in the last list: it may
        have nodes that Ironic does not list.
        """
        self._number = self._count()
        known = self.reading.listing.found
        last = self.marks[watermark.CREATED].last
        return (
            self._is_counted
            and self._number == len(known)
            and (last is None or last in known)
            and self._clock() - self._named_at < LIST_INTERVAL
        )

    def _count(self) -> int | None:
        """Return how many nodes Ironic counts; None if it does not tell."""
        if not self._counts:
            return None
        try:
            return self._api.number()
        except errors.AgentError as exc:
            LOG.debug(
                'nodes are listed, because they are not counted: %s', exc
            )
            # It is asked again after the next list with traits.
            self._counts = isinstance(exc, errors.Unavailable)
            return None

    def _list_without_traits(self) -> bool:
        """List the nodes with their known traits; return False if in doubt.

        A node that changed, or came, after the walks before this list is read
        by itself.
        """
        known, began = self.reading.listing.found, self._clock()
        listed = reading.Reading.from_listing(self._api.nodes(known=known))
        names = listed.in_doubt(known)
        if len(names) > _MOST_ALONE:
            return False
        alone = self._api.read_each(names)
        for name, one in alone.items():
            if one and not self._may_be_late(one, is_new=name not in known):
                LOG.debug('%s changed without a newer time', one.node)
                self._doubted = self.marks[watermark.UPDATED].newest
                return False
        self.reading = listed.with_alone(alone)
        self._named_at = began
        self._is_counted = self._number == len(self.reading.listing.found)
        return True

    def _may_be_late(self, one: answers.Dated, *, is_new: bool) -> bool:
        """Return True if the walks before a list came too early for a node."""
        keys = watermark.KEYS if is_new else (watermark.UPDATED,)
        return any(
            self._marks_of_list[key].tells(one.times[key]) for key in keys
        )


def _are_whole(marks: _Marks) -> bool:
    return all(key in marks for key in watermark.KEYS)
