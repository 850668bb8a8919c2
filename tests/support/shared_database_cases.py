# SPDX-License-Identifier: Apache-2.0
"""The rules of a shared database, the same on each kind of server.

A test class inherits them and gives the fixture ``engine``: an engine of an empty
database.
"""

import dataclasses
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import next_schema
import pytest
import sqlalchemy as sa
from oslo_config import cfg

from compute_agent import errors
from compute_agent.cmd.doctor import finding, fleet_checks
from compute_agent.fleet import lease, shared_record
from compute_agent.fleet.database import connection, schema, tables

SHARE = 'ironic:shard=rack1'
A = lease.Member(who='a', host='one', pid=1, lease_seconds=15.0)
B = lease.Member(who='b', host='two', pid=2, lease_seconds=15.0)
ASKED = shared_record.Asked(
    key='key', content='{"command": "cycle"}', who='ann on one', at=2.5
)
ENTRY = [1.5, 'node', 'uuid', 'by', 'what', 'result', '{"text": "ä"}', 10]

_BEGIN = """
import sys
from compute_agent.fleet.database import connection, schema
schema.prepare(connection.engine(sys.argv[1]))
"""


def statements(engine: sa.Engine, doing: Callable[[], object]) -> list[str]:
    """Return the statements that this sends, by their first word."""
    seen: list[str] = []

    def note(_db: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        seen.append(statement.split(maxsplit=1)[0].lower())

    sa.event.listen(engine, 'before_cursor_execute', note)
    try:
        doing()
    finally:
        sa.event.remove(engine, 'before_cursor_execute', note)
    return seen


class Cases:
    """Tests of ``schema``, ``lease`` and ``shared_record``."""

    @pytest.fixture
    def leases(self, engine: sa.Engine) -> lease.Leases:
        schema.prepare(engine)
        return lease.Leases(engine)

    @pytest.fixture
    def record(
        self, engine: sa.Engine, leases: lease.Leases
    ) -> shared_record.SharedRecord:
        """Return the record as the holder A has it, with the epoch 1."""
        assert leases.take(SHARE, 'ironic', None, A) == 1
        return shared_record.SharedRecord(engine, SHARE, A.who)

    # --- the tables ---------------------------------------------------------

    def test_the_tables_are_made_once(self, engine: sa.Engine) -> None:
        assert schema.version(engine) is None
        schema.prepare(engine)
        schema.prepare(engine)
        assert schema.version(engine) == schema.head()

    def test_a_database_has_a_name_of_its_own(self, engine: sa.Engine) -> None:
        schema.prepare(engine)
        name = schema.identity(engine)
        assert len(name) == 32
        schema.migrate(engine)
        assert schema.identity(engine) == name
        tables.METADATA.drop_all(engine)
        with engine.begin() as db:
            db.execute(sa.text(f'drop table {schema.VERSION_TABLE}'))
        schema.prepare(engine)
        assert schema.identity(engine) != name

    def test_agents_that_begin_at_once_make_the_tables_together(
        self, engine: sa.Engine
    ) -> None:
        url = engine.url.render_as_string(hide_password=False)
        begun = [
            subprocess.Popen([sys.executable, '-c', _BEGIN, url])
            for _ in range(3)
        ]
        assert [one.wait() for one in begun] == [0, 0, 0]
        assert schema.version(engine) == schema.head()

    def test_a_table_of_another_program_is_refused(
        self, engine: sa.Engine
    ) -> None:
        with engine.begin() as db:
            db.execute(sa.text('create table instances (id integer)'))
        with pytest.raises(errors.ConfigError, match='another program'):
            schema.prepare(engine)

    @pytest.mark.parametrize(
        ('found', 'words'),
        [('9999', 'knows versions up to'), ('', 'incomplete')],
    )
    def test_another_version_is_refused(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        monkeypatch: pytest.MonkeyPatch,
        found: str,
        words: str,
    ) -> None:
        del leases
        monkeypatch.setattr(schema, '_MAKING', 0.0)
        with engine.begin() as db:
            table = schema.VERSION_TABLE
            db.execute(sa.text(f'delete from {table}'))
            if found:
                db.execute(sa.text(f"insert into {table} values ('{found}')"))
        with pytest.raises(errors.ConfigError, match=words):
            schema.prepare(engine)

    @pytest.mark.catches('a daemon migrates what agents of older versions use')
    def test_an_older_version_is_left_until_a_person_migrates_it(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: pathlib.Path,
    ) -> None:
        assert leases.take(SHARE, 'ironic', None, A) == 1
        before = schema.head()
        with monkeypatch.context() as later:
            steps = next_schema.written(tmp_path)
            later.setattr(schema, '_STEPS', steps)
            too_old = f'needs version {next_schema.VERSION}.*state migrate'
            with pytest.raises(errors.ConfigError, match=too_old) as caught:
                schema.prepare(engine)
            assert '\n' not in str(caught.value)
            assert schema.version(engine) == before
            schema.migrate(engine)
            schema.prepare(engine)
            assert leases.row(SHARE) is not None
        too_new = f'has version {next_schema.VERSION}.*upgrade this agent'
        with pytest.raises(errors.ConfigError, match=too_new):
            schema.prepare(engine)

    def test_tables_that_were_half_made_are_completed(
        self, engine: sa.Engine, leases: lease.Leases
    ) -> None:
        del leases
        with engine.begin() as db:
            db.execute(sa.text(f'delete from {schema.VERSION_TABLE}'))
            db.execute(sa.text('drop table history'))
        schema.migrate(engine)
        assert {*tables.METADATA.tables, schema.VERSION_TABLE} == {
            *sa.inspect(engine).get_table_names()
        }

    # --- the lease ----------------------------------------------------------

    def test_a_share_is_taken_and_beats(self, leases: lease.Leases) -> None:
        assert leases.row(SHARE) is None
        assert leases.take(SHARE, 'ironic', None, A) == 1
        assert leases.beat(SHARE, 1, able=False) == 2
        assert leases.row(SHARE) == lease.LeaseRow(
            share=SHARE,
            driver='ironic',
            epoch=1,
            beat=2,
            holder=A,
            lease_seconds=15.0,
            able=False,
        )
        assert leases.rows() == [leases.row(SHARE)]

    @pytest.mark.parametrize('epoch', [1, 2])
    def test_of_two_takers_one_wins(
        self, engine: sa.Engine, leases: lease.Leases, epoch: int
    ) -> None:
        if epoch == 2:
            leases.take(SHARE, 'ironic', None, A)
        seen = leases.row(SHARE)
        taken: list[int | None] = []
        barrier = threading.Barrier(2)

        def take(member: lease.Member) -> None:
            own = lease.Leases(engine)
            barrier.wait()
            taken.append(own.take(SHARE, 'ironic', seen, member))

        threads = [
            threading.Thread(
                target=take,
                args=[lease.Member(who=w, host=w, pid=1, lease_seconds=1.0)],
            )
            for w in 'cd'
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken, key=str) == [epoch, None]

    @pytest.mark.catches('a lease that beat meanwhile is taken')
    def test_a_row_that_moved_is_not_taken(self, leases: lease.Leases) -> None:
        leases.take(SHARE, 'ironic', None, A)
        seen = leases.row(SHARE)
        leases.beat(SHARE, 1, able=True)
        assert leases.take(SHARE, 'ironic', seen, B) is None

    def test_the_deposed_changes_nothing(
        self, engine: sa.Engine, leases: lease.Leases
    ) -> None:
        leases.take(SHARE, 'ironic', None, A)
        other = lease.Leases(engine)
        assert other.take(SHARE, 'ironic', leases.row(SHARE), B) == 2
        row = leases.row(SHARE)
        for change in (
            lambda: leases.beat(SHARE, 1, able=True),
            lambda: leases.leave(SHARE, 1),
        ):
            with pytest.raises(errors.Deposed, match='two .process 2. took'):
                change()
        assert leases.row(SHARE) == row

    @pytest.mark.catches('the fence of a commit compares the epoch alone')
    def test_an_epoch_that_two_agents_took_is_of_the_later(
        self, engine: sa.Engine, leases: lease.Leases
    ) -> None:
        """A database that lost a take-over gives the same epoch again."""
        leases.take(SHARE, 'ironic', None, A)
        with engine.begin() as db:
            db.execute(sa.text('delete from lease'))
        lease.Leases(engine).take(SHARE, 'ironic', None, B)
        with pytest.raises(errors.Deposed):
            leases.beat(SHARE, 1, able=True)
        with pytest.raises(errors.Deposed):
            shared_record.SharedRecord(engine, SHARE, A.who).commit(1, {})

    def test_a_lease_that_is_left_is_empty(self, leases: lease.Leases) -> None:
        leases.take(SHARE, 'ironic', None, A)
        leases.leave(SHARE, 1)
        row = leases.row(SHARE)
        assert row is not None
        assert row.holder is None
        with pytest.raises(errors.Deposed):
            leases.beat(SHARE, 1, able=True)
        assert leases.take(SHARE, 'ironic', row, B) == 2

    def test_standbys_are_seen_until_they_hold_the_lease(
        self, leases: lease.Leases
    ) -> None:
        leases.take(SHARE, 'ironic', None, A)
        leases.attend(SHARE, B, able=False, sequence=3)
        leases.attend(SHARE, B, able=True, sequence=4)
        assert leases.standbys(SHARE) == [
            lease.StandbyRow(
                member=B, beat=2, able=True, sequence=4, lease_beat=1
            )
        ]
        leases.take(SHARE, 'ironic', leases.row(SHARE), B)
        assert leases.standbys(SHARE) == []

    def test_a_standby_that_ended_is_dropped_until_it_beats(
        self, leases: lease.Leases
    ) -> None:
        leases.take(SHARE, 'ironic', None, A)
        leases.attend(SHARE, B, able=True, sequence=0)
        leases.dismiss('another', [B.who])
        assert leases.standbys(SHARE)
        leases.dismiss(SHARE, [A.who, B.who])
        assert leases.standbys(SHARE) == []
        leases.attend(SHARE, B, able=True, sequence=0)
        assert leases.standbys(SHARE)

    # --- the record ---------------------------------------------------------

    @pytest.mark.catches('the fence of a commit is only read')
    @pytest.mark.catches('a holder counts its commits itself')
    def test_documents_are_read_back_by_sequence(
        self, leases: lease.Leases, record: shared_record.SharedRecord
    ) -> None:
        first = record.commit(1, {'a': 'one', 'b': 'two ä'})
        leases.beat(SHARE, 1, able=True)
        second = record.commit(1, {'b': None})
        assert second == first + 2
        assert record.changed(0) == shared_record.Changes(
            sequence=second, epoch=1, documents={'a': 'one', 'b': None}
        )
        assert record.changed(first).documents == {'b': None}
        assert record.changed(second).documents == {}
        row = leases.row(SHARE)
        assert row is not None
        assert row.sequence == second

    def test_shares_do_not_see_each_other(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        record: shared_record.SharedRecord,
    ) -> None:
        leases.take('other', 'fake', None, B)
        other = shared_record.SharedRecord(engine, 'other', B.who)
        other.commit(1, {'a': 'other'}, [ENTRY])
        record.commit(1, {'a': 'mine'})
        assert other.changed(0).documents == {'a': 'other'}
        assert record.history() == []

    def test_names_are_compared_byte_by_byte(
        self, leases: lease.Leases, record: shared_record.SharedRecord
    ) -> None:
        del record
        assert leases.take(SHARE.upper(), 'ironic', None, B) == 1

    @pytest.mark.catches('the fence of a commit does not compare the epoch')
    def test_the_deposed_commits_nothing(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        record: shared_record.SharedRecord,
    ) -> None:
        record.ask(ASKED)
        lease.Leases(engine).take(SHARE, 'ironic', leases.row(SHARE), B)
        with pytest.raises(errors.Deposed):
            record.commit(1, {'a': 'late'}, [ENTRY])
        with pytest.raises(errors.Deposed):
            record.take_asked(1)
        assert record.changed(0).documents == {}
        assert record.history() == []
        assert record.asked(ASKED.key) == ASKED

    def test_the_time_of_each_commit_is_told(
        self, record: shared_record.SharedRecord
    ) -> None:
        told: list[float] = []
        with shared_record.COMMITS.watching(told.append):
            record.commit(1, {'a': 'x'})
            with pytest.raises(errors.Deposed):
                record.commit(2, {'a': 'x'})
        assert len(told) == 2

    def test_many_documents_are_one_commit(
        self, record: shared_record.SharedRecord
    ) -> None:
        many = {f'node-{n}': f'document {n}' for n in range(1200)}
        record.commit(1, many)
        assert record.changed(0).documents == many

    def test_the_history_is_in_order_and_bounded(
        self, engine: sa.Engine, record: shared_record.SharedRecord
    ) -> None:
        old, new = [0.0, *ENTRY[1:]], [3600.0 * 24 * 3, *ENTRY[1:]]
        first = record.commit(1, {}, [ENTRY, old])
        assert record.history() == [ENTRY, old]
        for _ in range(2):
            short = shared_record.SharedRecord(
                engine, SHARE, A.who, history_days=1
            )
            short.commit(1, {}, [new])
        assert record.history() == [new, new]
        assert record.history(first) == [new, new]

    @pytest.mark.catches('one entry of the future drops the history')
    def test_a_clock_that_is_years_ahead_drops_no_history(
        self, engine: sa.Engine, record: shared_record.SharedRecord
    ) -> None:
        ahead = shared_record.SharedRecord(engine, SHARE, A.who)
        years, day = 1e9, 3600.0 * 24
        record.commit(1, {}, [ENTRY])
        ahead.commit(1, {}, [[years, *ENTRY[1:]]])
        ahead.commit(1, {}, [[day, *ENTRY[1:]]])  # its clock was set
        assert [one[0] for one in record.history()] == [ENTRY[0], years, day]

    def test_a_request_is_there_once_and_is_answered_once(
        self, record: shared_record.SharedRecord
    ) -> None:
        record.ask(ASKED)
        record.ask(ASKED)  # as after an answer that was lost
        (taken,) = record.take_asked(1)
        assert taken == dataclasses.replace(ASKED, epoch=1)
        assert not record.withdraw(ASKED.key)
        record.ask(ASKED)
        assert record.take_asked(1) == [taken]  # it is in this one's hands
        record.answer(1, ASKED.key, 'done')
        assert record.take_asked(1) == []
        found = record.asked(ASKED.key)
        assert found == dataclasses.replace(taken, answer='done')
        assert record.withdraw(ASKED.key)
        assert record.asked(ASKED.key) is None

    @pytest.mark.catches('a request is taken again by the next holder')
    def test_the_next_holder_sees_that_a_request_was_begun(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        record: shared_record.SharedRecord,
    ) -> None:
        record.ask(ASKED)
        record.take_asked(1)
        assert leases.take(SHARE, 'ironic', leases.row(SHARE), B) == 2
        follower = shared_record.SharedRecord(engine, SHARE, B.who)
        (begun,) = follower.take_asked(2)
        assert begun.epoch == 1
        with pytest.raises(errors.Deposed):
            record.answer(1, ASKED.key, 'late')
        follower.answer(2, ASKED.key, 'the first one died')
        assert follower.take_asked(2) == []

    def test_an_answer_that_nobody_reads_is_dropped_after_a_take_over(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        record: shared_record.SharedRecord,
    ) -> None:
        record.ask(ASKED)
        record.take_asked(1)
        record.answer(1, ASKED.key, 'done')
        leases.take(SHARE, 'ironic', leases.row(SHARE), B)
        follower = shared_record.SharedRecord(engine, SHARE, B.who)
        other = dataclasses.replace(ASKED, key='other', at=2.5)
        follower.ask(other)
        assert [one.key for one in follower.take_asked(2)] == ['other']
        assert follower.asked(ASKED.key) is None

    def test_a_request_that_nobody_took_can_be_withdrawn(
        self, record: shared_record.SharedRecord
    ) -> None:
        record.ask(ASKED)
        assert record.withdraw(ASKED.key)
        assert record.take_asked(1) == []

    def test_the_statements_of_a_commit_are_counted(
        self,
        engine: sa.Engine,
        leases: lease.Leases,
        record: shared_record.SharedRecord,
    ) -> None:
        def count(*args: Any, **named: Any) -> list[str]:
            return statements(engine, lambda: record.commit(1, *args, **named))

        # MariaDB does not tell what an update made of a row.
        tells = engine.dialect.update_returning
        fence = ['update'] if tells else ['update', 'select']
        assert count({}) == fence
        documents = {str(n): 'x' for n in range(300)}
        assert count(documents) == [*fence, 'insert']
        record.commit(1, {}, [ENTRY])
        assert count({'a': 'x'}, [ENTRY]) == [
            *fence,
            'insert',
            'insert',
        ]
        look = statements(engine, lambda: record.take_asked(1))
        assert look == ['select']
        beat = statements(engine, lambda: leases.beat(SHARE, 1, able=True))
        assert beat == fence
        assert statements(engine, lambda: leases.row(SHARE)) == ['select']

        def attend() -> None:
            leases.attend(SHARE, B, able=True, sequence=0)

        attend()
        assert statements(engine, attend) == ['update']

    def test_the_doctor_finds_no_failure(self, engine: sa.Engine) -> None:
        url = engine.url.render_as_string(hide_password=False)
        for _ in range(2):
            asked = fleet_checks.Asked(cfg.ConfigOpts(), url)
            every = (
                *(asked.reachable, asked.tables),
                *(asked.rights, asked.commits),
            )
            found = [asked.closed_after(run) for run in every]
            # A server for tests is slow, and does not wait for its disk.
            outcomes = {one.outcome for one in found}
            assert outcomes <= {finding.Outcome.OK, finding.Outcome.WARNING}
            schema.prepare(engine)

    # --- mistakes and outages -------------------------------------------------

    def test_a_work_that_fails_leaves_nothing(
        self, engine: sa.Engine, record: shared_record.SharedRecord
    ) -> None:
        def work(db: sa.Connection) -> None:
            lease.fence(db, SHARE, 1, A.who)
            db.execute(sa.text('select * from nowhere'))

        before = record.changed(0)
        with pytest.raises(errors.Unavailable, match='cannot be used'):
            connection.run(engine, work)
        assert record.changed(0) == before
