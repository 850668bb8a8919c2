# SPDX-License-Identifier: Apache-2.0
"""What would part the record of a share's agents, or let two of them write."""

import contextlib
import dataclasses
import itertools
import json

import sqlalchemy as sa
from planted.catalogue import plant

from compute_agent import errors
from compute_agent.cycle.departures import other_shares
from compute_agent.cycle.node import node_planner
from compute_agent.fleet import lease, shared_record
from compute_agent.fleet.database import schema, tables
from compute_agent.fleet.values import mark
from compute_agent.limits import approval
from compute_agent.state import documents, journal, replica, snapshot, state
from compute_agent.state.values import node_record
from compute_agent.tree import assertion
from report_client import errors as placement_errors
from report_client.apply import settling


@plant(approval.is_valid, 'an approval holds only by the clock of its machine')
def _(is_valid, given_at, now, **_how):
    return is_valid(given_at, now)


@plant(
    shared_record.SharedRecord._told_before,
    'one entry of the future drops the history',
)
def _(_told_before, _self, _db, _sequence, otherwise):
    return otherwise


@plant(
    other_shares.OtherShares.give,
    'a node is given away by a share that lists it',
)
def _(give, self, _moved, observe):
    return give(self, self._state.nodes.all(), observe)


@plant(
    other_shares.OtherShares.check,
    'a node that moved back is written before it was given',
)
def _(_check, _self, _node, _seen):
    return None


@plant(
    other_shares.OtherShares._tend,
    'nobody has the record of a node that nobody lists',
)
def _(_tend, _self, _observe):
    return None


@plant(
    node_record.GivenRecord.fitting,
    'a record is taken for a provider that was made anew',
)
def _(fitting, self, tree, seen):
    return fitting(self, tree, dict.fromkeys(seen, 1_000_000))


@plant(
    node_record.GivenRecord.fitting,
    'a share that takes a node waits for the mark of the other',
)
def _(fitting, self, tree, seen):
    return fitting(dataclasses.replace(self, mark=''), tree, seen)


@plant(shared_record.SharedRecord._move, 'two agents take one record')
def _(move, self, db, epoch, sequence, moved):
    with contextlib.suppress(errors.Refused):
        move(self, db, epoch, sequence, moved)


@plant(documents.standing, 'a document of a newer agent takes rights away')
def _(standing, key, text):
    if json.loads(text)['version'] > documents.VERSION:
        return documents.Standing(lists=False, has_rights=False)
    return standing(key, text)


@plant(schema.check, 'a daemon migrates what agents of older versions use')
def _(check, made, found):
    if found != schema.head():
        schema.migrate(made)
        found = schema.head()
    check(made, found)


@plant(
    replica.Replica._committing,
    'the record is committed here before the shared database has it',
    in_fleets=True,
)
@contextlib.contextmanager
def _(committing, self, db, *, is_late):
    shared, self._shared = self._shared, _Kept(self._shared, self._seen + 1)
    try:
        with committing(self, db, is_late=is_late):
            yield
        self._shared.send()
    finally:
        self._shared = shared


@plant(state.State.take_id, 'a directory keeps the id of the share')
def _(_take_id, self, agent_id):
    with self._database.writing() as db:
        db.execute('update agent set id = ?', (agent_id,))


class _Kept:
    """A shared record that keeps a commit until the local one is done."""

    def __init__(self, shared, sequence):
        self._shared = shared
        self._sequence = sequence
        self._kept = None

    def commit(self, *given):
        self._kept = given
        return self._sequence

    def send(self):
        if self._kept is not None:
            self._shared.commit(*self._kept)

    def __getattr__(self, name):
        return getattr(self._shared, name)


@plant(
    settling.Settling.settle,
    'the writes of a predecessor are not settled',
    in_fleets=True,
)
def _(_settle, _self, _node_uuids):
    return {}


@plant(
    settling.Settling._settle,
    'the generation of a provider with an inherited write stays',
    in_fleets=True,
)
def _(_settle, self, uuid):
    with contextlib.suppress(placement_errors.NotFound):
        self._reader.contents(uuid, assertion.Kind.AGGREGATE)


@plant(
    replica.Replica.take_over,
    'a holder goes on with its own record, not with that of the share',
    in_fleets=True,
)
def _(_take_over, self, epoch):
    self._journal.inherit(())
    self._is_loaded, self._is_behind, self._epoch = True, False, epoch


@plant(
    replica.Replica.catch_up,
    'a commit whose answer was lost is taken for one that was not done',
)
def _(catch_up, self):
    if self._epoch is not None:
        self._is_behind = False
    else:
        catch_up(self)


@plant(
    documents._triggers,
    'changes of the intents are not noted',
)
def _(triggers, table):
    return '' if table.name == 'intent' else triggers(table)


@plant(
    documents._triggers,
    'changes of the contents that placement had are not noted',
    in_fleets=True,
)
def _(triggers, table):
    return '' if table.name == 'past_contents' else triggers(table)


@plant(
    documents.told,
    'the entries of the history stay on the host of their agent',
    in_fleets=True,
)
def _(_told, _db, *, every=False):
    del every
    return []


@plant(
    shared_record.SharedRecord.take_asked,
    'a request is taken again by the next holder',
)
def _(take_asked, self, epoch):
    return [
        dataclasses.replace(one, epoch=epoch)
        for one in take_asked(self, epoch)
    ]


@plant(
    documents.read,
    'the document of a provider without a record stays',
)
def _(read, db, keys=None):
    return {k: text for k, text in read(db, keys).items() if text is not None}


@plant(
    replica.Replica.saw,
    'nobody notices by a beat that the shared database lost commits',
)
def _(_saw, _self, _sequence, *, above):
    del above


@plant(
    replica.Replica.is_behind,
    'lost commits are committed again with the next change',
)
def _(_is_behind, self):
    return self._is_behind


@plant(
    journal.Journal._settle_doubt,
    'names of a record that lost its last changes count as before',
)
def _(_settle_doubt, _self, _db, _seen):
    return None


@plant(
    state.State._forget_memory,
    'what was read before another agent wrote is kept in memory',
)
def _(_forget_memory, _self):
    return None


@plant(
    snapshot.Snapshot.forget_trees,
    'a reading of a provider that another agent wrote to is kept',
)
def _(_forget_trees, self, _db, _uuids):
    self._cache.clear()


@plant(
    replica.Replica._commit,
    'an agent that was deposed goes on',
)
def _(commit, self, *given):
    with contextlib.suppress(errors.Deposed):
        commit(self, *given)


@plant(
    replica.Replica._load,
    'the first holder of a share leaves its own record behind',
)
def _(load, self, known, changes, *, lost):
    load(self, replica._Known(self._place), changes, lost=lost)


@plant(mark.shared_id, 'two databases with a share of one name have one mark')
def _(shared_id, share, _database):
    return shared_id(share, '')


@plant(
    node_planner.NodePlanner._was_ours,
    'an earlier mark of this agent counts as a rival',
)
def _(_was_ours, _self, _uuid, _trait):
    return False


_LEASE = tables.LEASE.c


@plant(lease.fence, 'the fence of a commit is only read')
def _(_fence, db, share, epoch, holder, **_changed):
    query = sa.select(_LEASE.beat).where(
        (_LEASE.share == share)
        & (_LEASE.epoch == epoch)
        & (_LEASE.who == holder)
    )
    beat = db.execute(query).scalar()
    if beat is None:
        raise errors.Deposed('planted')
    return beat + 1


@plant(
    lease.fence,
    'the fence of a commit does not compare the epoch',
    in_fleets=True,
)
def _(fence, db, share, _epoch, holder, **changed):
    query = sa.select(_LEASE.epoch, _LEASE.who).where(_LEASE.share == share)
    epoch, who = db.execute(query).one()
    return fence(db, share, epoch, who or holder, **changed)


@plant(lease.fence, 'the fence of a commit compares the epoch alone')
def _(fence, db, share, epoch, _holder, **changed):
    query = sa.select(_LEASE.who).where(_LEASE.share == share)
    return fence(db, share, epoch, db.execute(query).scalar(), **changed)


_COUNT = itertools.count(1)


@plant(lease.fence, 'a holder counts its commits itself', in_fleets=True)
def _(fence, *given, **changed):
    fence(*given, **changed)
    return next(_COUNT)


@plant(lease._take, 'a lease that beat meanwhile is taken')
def _(take, db, share, driver, seen, me):
    if seen is not None:
        query = sa.select(_LEASE.beat).where(_LEASE.share == share)
        beat = db.execute(query).scalar()
        seen = dataclasses.replace(seen, beat=beat)
    return take(db, share, driver, seen, me)


@plant(
    settling.Settling._record_creation,
    'a take-over forgets who created a root',
)
def _(_record_creation, _self, _uuid):
    return None


@plant(replica.Replica._committing, 'each outcome is a commit of its own')
def _(committing, self, db, *, is_late):
    del is_late
    return committing(self, db, is_late=False)


@plant(
    replica.Replica._drop_debts,
    'a deposed agent keeps outcomes that nobody else has',
)
def _(_drop_debts, self):
    self._owes = False


@plant(
    replica.Replica.take_over,
    'a successor forgets the writes whose outcome it lacks',
)
def _(take_over, self, epoch):
    take_over(self, epoch)
    with self._database.writing() as db:
        db.execute('delete from intent')
