# SPDX-License-Identifier: Apache-2.0
"""What Ironic tells of changes, and when its traits are listed again."""

import dataclasses

from planted.catalogue import plant, together
from variants import Constant

from compute_agent import errors
from drivers.ironic import reader
from drivers.ironic.client import api
from drivers.ironic.nodes import reading, watermark

# --- how far a walk goes ------------------------------------------------------

together(
    'a walk ends where the one before it began',
    Constant(watermark, OVERLAP=0.0, LONG_OVERLAP=0.0),
)
together(
    'a list goes down no further than a question',
    Constant(watermark, LONG_OVERLAP=watermark.OVERLAP),
)
together(
    'new nodes wait for the list',
    Constant(watermark, KEYS=(watermark.UPDATED,)),
)


@plant(
    watermark.Walk.moved,
    'a walk is settled before it has read the overlap again',
)
def _(moved, self, mark, now, overlap):
    found = moved(self, mark, now, overlap)
    return dataclasses.replace(found, read=now + 1000.0)


@plant(
    watermark.Mark.is_settled, 'a quiet fleet is read again with each question'
)
def _(_is_settled, _self, _overlap):
    return False


@plant(
    watermark.Walk._likely,
    'a walk is one row too short, and asks for another page',
)
def _(likely, self, mark, overlap):
    return likely(self, mark, overlap) - 1


@plant(watermark.Mark.is_quiet, 'nobody asks for new nodes')
def _(_is_quiet, self, _last, overlap):
    return self.is_settled(overlap)


@plant(watermark.Mark.is_quiet, 'a new node that shows late is not read')
def _(_is_quiet, self, last, _overlap):
    return self.last == last


@plant(
    watermark.Walk._past_nulls, 'a page begins behind a node without a time'
)
def _(_past_nulls, self, asked, _got):
    return watermark.Ask(limit=asked.limit, marker=list(self.found)[-1])


@plant(watermark.Walk._check_order, 'a page that is not sorted is believed')
def _(_check_order, _self, _rows, _times):
    return None


@plant(api.Api.walk, 'a walk that failed counts as complete')
def _(walk, self, one):
    try:
        walk(self, one)
    except errors.AgentError:
        return


@plant(reader.Reader._newest, 'a flood of changes is never over')
def _(newest, self):
    return {
        key: dataclasses.replace(mark, seen=self._clock())
        for key, mark in newest(self).items()
    }


@plant(reader.Reader._judge, 'a flood of changes is read with each question')
def _(judge, self, walk):
    judge(self, walk)
    self.is_behind = False


# --- when a count is enough ---------------------------------------------------

together(
    'the nodes are never listed again', Constant(reader, LIST_INTERVAL=1e9)
)


@plant(reader.Reader._is_complete, 'a deleted node is not missed')
def _(is_complete, self):
    is_complete(self)
    return self._is_counted


@plant(
    reader.Reader._is_complete, 'a new node that no time told is not missed'
)
def _(is_complete, self):
    known = self.reading.listing.found
    return is_complete(self) or (
        self._is_counted and self._number == len(known)
    )


@plant(
    reader.Reader._is_complete, 'a count that was wrong in a list is believed'
)
def _(is_complete, self):
    self._is_counted = True
    return is_complete(self)


# --- when traits are listed ----------------------------------------------------


@plant(reader.Reader._is_due, 'traits are listed once, and never again')
def _(_is_due, self):
    return self._listed_at is None


@plant(
    reader.Reader._is_followed,
    'a list goes without traits although nobody asked',
)
def _(_is_followed, self):
    return self._asked_at is not None


@plant(
    reader.Reader.read_all,
    'a cycle that takes long makes each list one with traits',
)
def _(read_all, self):
    read_all(self)
    self._asked_at = None


@plant(reader.Reader.read_changes, 'a question that failed is forgotten')
def _(read_changes, self):
    is_sound = self._is_sound
    try:
        return read_changes(self)
    except errors.AgentError:
        self._is_sound = is_sound
        raise


@plant(watermark.Walk.went_back, 'an older database is not noticed')
def _(_went_back, _self, _mark):
    return False


@plant(
    reader.Reader._may_be_late,
    'a change that no time told is taken for the only one',
)
def _(_may_be_late, _self, _one, **_how):
    return True


@plant(
    reading.Reading.in_doubt,
    'a node that changed is listed without its traits',
)
def _(_in_doubt, _self, _known):
    return ()
