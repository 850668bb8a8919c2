# SPDX-License-Identifier: Apache-2.0
"""The shared database on real servers, and how it bears their failures."""

import concurrent.futures
import contextlib
import threading

import next_schema
import pytest
import shared_database_cases
import sqlalchemy as sa
from databases import PATIENCE, wait_for

from compute_agent import errors
from compute_agent.fleet import lease, shared_record
from compute_agent.fleet.database import connection, schema

pytestmark = pytest.mark.long
SHARE, A, B = (
    shared_database_cases.SHARE,
    shared_database_cases.A,
    shared_database_cases.B,
)


class TestPostgreSQL(shared_database_cases.Cases):
    """The rules, on PostgreSQL."""

    @pytest.fixture
    def engine(self, pair, opened):
        pair.new_database('fleet')
        return opened(pair.url('fleet'))

    def test_no_commit_is_a_pipeline_that_an_agent_may_stop_within(
        self, engine
    ):
        """The server's timeouts do not end a pipeline, and it has locks."""
        schema.prepare(engine)
        assert lease.Leases(engine).take(SHARE, 'ironic', None, A) == 1
        pipelines = []

        @sa.event.listens_for(engine, 'before_cursor_execute')
        def executed(_db, _cursor, statement, _rows, _context, executemany):
            if executemany:
                pipelines.append(statement)

        record = shared_record.SharedRecord(engine, SHARE, A.who)
        done = record.commit(1, {'a': '1', 'b': '2', 'c': '3'})
        record.commit(1, {'a': '4', 'b': None})
        assert pipelines == []
        assert record.changed(done).documents == {'a': '4', 'b': None}


class TestGalera(shared_database_cases.Cases):
    """The rules, on a cluster of three."""

    @pytest.fixture
    def engine(self, galera, opened):
        galera.new_database('fleet')
        return opened(galera.url('fleet'))


class Outages:
    """A holder behind a relay, and another client that is not."""

    def wait(self, servers):
        """Wait until the servers take statements again."""

    @pytest.fixture
    def relay(self, servers, relaying):
        servers.new_database('fleet')
        return relaying(servers.address)

    @pytest.fixture
    def near(self, servers, relay, opened):
        """The engine of the holder A, with the epoch 1."""
        made = opened(servers.url('fleet', relay.address))
        schema.prepare(made)
        assert lease.Leases(made).take(SHARE, 'ironic', None, A) == 1
        return made

    @pytest.fixture
    def record(self, near):
        return shared_record.SharedRecord(near, SHARE, A.who)

    @pytest.fixture
    def other(self, servers, near, opened):
        """The record as another agent sees it."""
        del near
        made = opened(servers.url('fleet'))
        return shared_record.SharedRecord(made, SHARE)

    def test_a_connection_that_is_cut_before_the_commit_changes_nothing(
        self, near, relay, record, other
    ):
        at_next_commit(near, relay.drop)
        with pytest.raises(errors.Unavailable, match='did not carry it out'):
            record.commit(1, {'a': 'lost'})
        assert other.changed(0).documents == {}
        done = record.commit(1, {'a': 'kept'})
        assert other.changed(done - 1).documents == {'a': 'kept'}

    def test_a_commit_whose_answer_is_lost_was_done(
        self, near, relay, record, other
    ):
        def lose_the_answer():
            relay.hold_answers()
            thread = threading.Thread(target=cut_when_done)
            thread.start()

        def cut_when_done():
            wait_for(lambda: other.changed(0).documents, 'the commit is done')
            relay.drop()
            relay.mend()

        at_next_commit(near, lose_the_answer)
        sequence = record.commit(1, {'a': 'kept'})
        changes = other.changed(sequence - 1)
        assert changes.documents == {'a': 'kept'}
        assert record.commit(1, {'a': 'next'}) == sequence + 2  # it looked

    def test_a_commit_in_doubt_is_settled_before_the_record_is_read(
        self, near, relay, record, other
    ):
        at_next_commit(near, relay.cut)
        with pytest.raises(errors.Unavailable):
            record.commit(1, {'a': 'lost'})
        with pytest.raises(errors.Unavailable):
            record.changed(0)
        relay.mend()
        assert record.changed(0).documents == other.changed(0).documents == {}

    def test_who_is_deposed_while_a_commit_is_in_doubt_knows_it(
        self, near, relay, record, other, servers, opened
    ):
        del other
        direct = lease.Leases(opened(servers.url('fleet')))

        def cut_and_depose():
            relay.drop()
            wait_for(depose, 'the row is free')

        def depose():
            return direct.take(SHARE, 'ironic', direct.row(SHARE), B)

        at_next_commit(near, cut_and_depose)
        with pytest.raises(errors.Deposed):
            record.commit(1, {'a': 'lost'})
        assert record.changed(0).documents == {}

    def test_a_take_over_whose_answer_is_lost_is_known(
        self, near, relay, servers, opened
    ):
        direct = lease.Leases(opened(servers.url('fleet')))
        leases = lease.Leases(near)
        seen = leases.row(SHARE)

        def lose_the_answer():
            relay.hold_answers()
            threading.Thread(target=cut_when_done).start()

        def cut_when_done():
            wait_for(lambda: direct.row(SHARE).epoch == 2, 'it is done')
            relay.drop()
            relay.mend()

        at_next_commit(near, lose_the_answer)
        assert leases.take(SHARE, 'ironic', seen, B) == 2
        assert leases.beat(SHARE, 2, able=True)

    def test_sessions_that_the_server_ends_cost_one_more_try(
        self, servers, near, record
    ):
        record.commit(1, {})
        assert servers.kill_sessions('fleet')
        record.commit(1, {'a': 'kept'})
        assert record.changed(0).documents == {'a': 'kept'}
        del near

    def test_a_server_that_stands_still_is_away_and_comes_back(
        self, servers, record
    ):
        with servers.stopped(), pytest.raises(errors.Unavailable):
            record.commit(1, {'a': 'lost'})
        self.wait(servers)
        record.commit(1, {'a': 'kept'})
        assert record.changed(0).documents == {'a': 'kept'}

    def test_a_cable_that_is_pulled_keeps_no_other_agent_waiting(
        self, near, relay, record, servers, opened
    ):
        """The server ends a transaction that is left open."""
        direct = lease.Leases(opened(servers.url('fleet')))
        taken = []

        def pull_and_take():
            relay.hold()
            wait_for(take, 'the row is free')

        def take():
            with contextlib.suppress(errors.Unavailable):
                taken.append(
                    direct.take(SHARE, 'ironic', direct.row(SHARE), B)
                )
            return taken

        at_next_commit(near, pull_and_take)
        threading.Thread(
            target=wait_for, args=[lambda: taken, 'the take-over']
        ).start()
        with pytest.raises(errors.Unavailable):
            record.commit(1, {'a': 'late'})
        assert taken == [2]
        relay.drop()
        relay.mend()
        with pytest.raises(errors.Deposed):
            record.commit(1, {'a': 'late'})
        assert record.changed(0).documents == {}

    @pytest.mark.parametrize(
        ('change', 'words'),
        [
            ({'database': 'nothing'}, 'does not exist: create it'),
            ({'username': 'nobody', 'password': 'secret'}, 'account'),
            ({'host': 'nowhere.invalid'}, 'correct the host'),
            ({'port': 1}, 'check that it runs'),
            ({'query': {'bogus': '1'}}, 'bogus.*correct it|correct it.*bogus'),
        ],
    )
    def test_a_wrong_url_is_one_line(self, servers, opened, change, words):
        servers.new_database('fleet')
        url = sa.make_url(servers.url('fleet')).set(**change)
        made = opened(url.render_as_string(hide_password=False))
        with pytest.raises(errors.AgentError, match=words) as caught:
            schema.prepare(made)
        assert 'secret' not in str(caught.value)
        assert '\n' not in str(caught.value)

    @pytest.mark.parametrize(
        ('user', 'words'),
        [
            ('locked', 'refuses the account: correct user and password'),
            ('guest', 'gives the account too few rights: grant it'),
        ],
    )
    def test_an_account_that_cannot_make_tables_is_one_line(
        self, servers, opened, user, words
    ):
        servers.new_database('fleet')
        url = sa.make_url(servers.url('fleet'))
        url = url.set(username=user, password='secret')
        made = opened(url.render_as_string(hide_password=False))
        with (
            servers.accounts('fleet'),
            pytest.raises(errors.ConfigError) as caught,
        ):
            schema.prepare(made)
        assert words in str(caught.value)
        assert 'secret' not in str(caught.value)

    def test_a_database_of_nova_is_one_line(self, servers, opened):
        servers.new_database('fleet')
        made = opened(servers.url('fleet'))
        with made.begin() as db:
            for name in ('alembic_version', 'instances', 'compute_nodes'):
                db.execute(sa.text(f'create table {name} (id integer)'))
        with pytest.raises(errors.ConfigError, match='instances.*of its own'):
            schema.prepare(made)

    @pytest.mark.parametrize(
        ('is_older', 'words'),
        [
            (
                True,
                'stop the agents of older versions, and run "compute-agent',
            ),
            (False, 'upgrade this agent to the version of the one that'),
        ],
    )
    def test_a_database_of_another_version_is_one_line(
        self, servers, opened, monkeypatch, tmp_path, *, is_older, words
    ):
        """No daemon migrates what is not empty; one that finds it empty does."""
        servers.new_database('fleet')
        made = opened(servers.url('fleet'))
        steps = next_schema.written(tmp_path)
        with monkeypatch.context() as first:
            if not is_older:
                first.setattr(schema, '_STEPS', steps)
            schema.prepare(made)
            before = schema.version(made)
        if is_older:
            monkeypatch.setattr(schema, '_STEPS', steps)
        with pytest.raises(errors.ConfigError) as caught:
            schema.prepare(made)
        assert words in str(caught.value)
        assert '\n' not in str(caught.value)
        assert schema.version(made) == before

    @pytest.mark.parametrize('ask', [schema.version, schema.prepare])
    def test_a_server_that_stands_still_holds_up_no_start(
        self, servers, opened, ask
    ):
        servers.new_database('fleet')
        made = opened(servers.url('fleet'))
        connection.run(made, lambda db: db.execute(sa.text('select 1')))
        with servers.stopped(), pytest.raises(errors.Unavailable):
            in_time(ask, made)
        self.wait(servers)
        schema.prepare(made)

    def test_a_server_that_stands_still_at_a_rollback_holds_up_nothing(
        self, servers, record, near
    ):
        stopped = []
        with contextlib.ExitStack() as standing:

            def work(db):
                lease.fence(db, SHARE, 1, A.who)
                standing.enter_context(servers.stopped())
                stopped.append(True)
                raise errors.Refused('the work failed')

            with pytest.raises(errors.Unavailable):
                in_time(connection.run, near, work)
            assert stopped
        self.wait(servers)
        record.commit(1, {'a': 'kept'})
        assert record.changed(0).documents == {'a': 'kept'}


class TestPostgreSQLOutages(Outages):
    """The outages, on PostgreSQL."""

    @pytest.fixture
    def servers(self, pair):
        return pair

    def test_a_long_transaction_is_not_cut_while_the_server_answers(
        self, servers
    ):
        servers.new_database('fleet')
        made = connection.engine(servers.url('fleet'), lease_seconds=6.0)

        def work(db):
            backend = 'select pg_backend_pid()'
            first = db.exec_driver_sql(backend).scalar()
            for _ in range(10):
                db.exec_driver_sql('select pg_sleep(0.5)')
            return first, db.exec_driver_sql(backend).scalar()

        first, last = connection.run(made, work)
        made.dispose()
        assert first == last

    def test_a_standby_that_is_promoted_shows_that_commits_were_lost(
        self, servers, record, relay
    ):
        first = record.commit(1, {'a': 'kept'})
        servers.wait_for_standby()
        servers.part()
        lost = record.commit(1, {'a': 'lost'})
        servers.fail_over()
        relay.drop()
        changes = record.changed(0)
        assert changes.documents == {'a': 'kept'}
        assert changes.sequence == first < lost
        assert record.commit(1, {'a': 'again'}) == lost


class TestGaleraOutages(Outages):
    """The outages, on a cluster of three."""

    def wait(self, servers):
        servers.wait_for_all()

    @pytest.fixture
    def servers(self, galera):
        return galera

    def test_a_transaction_that_another_server_overtakes_is_repeated(
        self, servers, record, near, opened
    ):
        del near
        second = lease.Leases(opened(servers.url('fleet', servers.address(1))))
        second._who[SHARE] = A.who
        tries = []

        def work(db):
            tries.append(lease.fence(db, SHARE, 1, A.who))
            if len(tries) == 1:
                second.beat(SHARE, 1, able=True)
            return tries[-1]

        done = connection.run(record._engine, work)
        assert (len(tries), done) == (2, tries[0] + 1)

    def test_of_two_takers_at_two_servers_one_wins(
        self, servers, near, opened
    ):
        seen = lease.Leases(near).row(SHARE)
        servers.wait_for_all()
        taken = []
        barrier = threading.Barrier(2)

        def take(number):
            engine = opened(servers.url('fleet', servers.address(number)))
            me = lease.Member(
                who=str(number), host='h', pid=number, lease_seconds=15.0
            )
            leases = lease.Leases(engine)
            leases.row(SHARE)
            barrier.wait()
            taken.append(leases.take(SHARE, 'ironic', seen, me))

        threads = [threading.Thread(target=take, args=[n]) for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken, key=str) == [2, None]

    def test_each_server_shows_what_another_one_committed(
        self, servers, record, opened
    ):
        others = [
            shared_record.SharedRecord(
                opened(servers.url('fleet', servers.address(n))), SHARE, A.who
            )
            for n in (1, 2)
        ]
        for number in range(20):
            record.commit(1, {'a': str(number)})
            for other in others:
                assert other.changed(0).documents['a'] == str(number)
                other.commit(1, {'b': str(number)})

    def test_a_server_without_the_others_is_away(self, servers, record):
        with servers.isolated(0), pytest.raises(errors.Unavailable):
            record.commit(1, {'a': 'lost'})
        record.commit(1, {'a': 'kept'})


def in_time(ask, *args):
    """Return what this returns; it must not wait for ever."""
    pool = concurrent.futures.ThreadPoolExecutor()
    try:
        return pool.submit(ask, *args).result(PATIENCE)
    finally:
        pool.shutdown(wait=False)  # it may wait for a server that stands still


def at_next_commit(engine, doing):
    """Do something once, when the next transaction is to be committed."""

    armed = [True]

    def once(_db):
        if armed:
            armed.clear()
            doing()

    sa.event.listen(engine, 'commit', once)
