# SPDX-License-Identifier: Apache-2.0
"""The record in memory, which tests use, answers as the one in a database does."""

import types

import pytest
from shared_database_cases import ENTRY, SHARE, A, B
from shared_in_memory import SharedInMemory

from compute_agent import errors
from compute_agent.fleet import lease, shared_record
from compute_agent.fleet.database import connection, schema


class InDatabase:
    """The same methods over a database."""

    def __init__(self, engine):
        schema.prepare(engine)
        self._engine = engine
        self._leases = lease.Leases(engine)
        self._members = [A, B]
        self._record = None

    def take(self):
        me, *self._members = self._members
        row = self._leases.row(SHARE)
        epoch = self._leases.take(SHARE, 'fake', row, me)
        before = self._record
        self._record = shared_record.SharedRecord(self._engine, SHARE, me.who)
        self._of_epoch = {epoch: self._record, (epoch or 0) - 1: before}
        return epoch

    def beat(self, epoch):
        return self._leases.beat(SHARE, epoch, able=True)

    def commit(self, epoch, *given):
        return self._of_epoch[epoch].commit(epoch, *given)

    def changed(self, since):
        return self._record.changed(since)

    def history(self, since):
        return self._record.history(since)


@pytest.fixture(params=['in memory', 'in a database'])
def share(request, tmp_path):
    if request.param == 'in memory':
        yield SharedInMemory()
        return
    engine = connection.engine(f'sqlite+pysqlite:///{tmp_path}/shared.sqlite')
    yield InDatabase(engine)
    engine.dispose()


def seen(share, since=0):
    changes = share.changed(since)
    return types.SimpleNamespace(
        sequence=changes.sequence, documents=dict(changes.documents)
    )


def test_a_record_begins_empty(share):
    share.take()
    assert seen(share).documents == {}
    assert share.history(0) == []


def test_each_commit_has_a_higher_sequence(share):
    epoch = share.take()
    first = share.commit(epoch, {'a': 'one', 'b': 'two'})
    assert seen(share) == types.SimpleNamespace(
        sequence=first, documents={'a': 'one', 'b': 'two'}
    )
    beat = share.beat(epoch)
    second = share.commit(epoch, {'a': None})
    assert first < beat < second
    assert seen(share, first).documents == {'a': None}
    assert seen(share, second).documents == {}
    assert seen(share).documents == {'a': None, 'b': 'two'}


def test_the_history_is_in_order(share):
    epoch = share.take()
    other = [2.5, *ENTRY[1:]]
    first = share.commit(epoch, {}, [ENTRY, other])
    share.commit(epoch, {}, [ENTRY])
    entries = [list(entry) for entry in share.history(0)]
    assert entries == [ENTRY, other, ENTRY]
    assert [list(entry) for entry in share.history(first)] == [ENTRY]


def test_who_was_deposed_commits_nothing(share):
    old = share.take()
    new = share.take()
    assert new == old + 1
    with pytest.raises(errors.Deposed):
        share.commit(old, {'a': 'one'}, [ENTRY])
    assert seen(share).documents == {}
    assert share.history(0) == []
    share.commit(new, {'a': 'two'})
    assert seen(share).documents == {'a': 'two'}
