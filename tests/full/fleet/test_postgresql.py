# SPDX-License-Identifier: Apache-2.0
"""What PostgreSQL does with a lease that is a row, and how commits are lost."""

import concurrent.futures

import leases
import pytest
from oslo_db import exception

pytestmark = pytest.mark.long


@pytest.fixture
def tables(pair, relaying):
    """Two clients of one database, the first through a relay."""
    pair.new_database('fleet')
    relay = relaying(pair.address)
    with (
        leases.client(pair.url('fleet', relay.address)) as first,
        leases.client(pair.url('fleet')) as second,
    ):
        first.make()
        yield first, second, relay


def test_one_of_two_who_take_over_at_once_changes_no_row(tables):
    first, second, _ = tables
    with (
        leases.begun(first) as one,
        leases.begun(second) as other,
        concurrent.futures.ThreadPoolExecutor() as pool,
    ):
        assert one.take(1) == 1
        waiting = pool.submit(other.take, 1)  # for the lock of the row
        one.commit()
        assert waiting.result() == 0
    assert first.epoch() == 2


def test_a_deposed_holder_s_commit_begins_with_no_row(tables):
    first, second, _ = tables
    with leases.begun(second) as other:
        other.take(1)
        other.commit()
    with leases.begun(first) as one:
        assert one.beat(1) == 0
        assert one.beat(2) == 1


def test_a_row_that_is_read_for_share_keeps_who_takes_over_waiting(tables):
    """On one primary, reading the row would do; on Galera it does not."""
    first, second, _ = tables
    with (
        leases.begun(first) as one,
        leases.begun(second) as other,
        concurrent.futures.ThreadPoolExecutor() as pool,
    ):
        assert one.read_shared() == 1
        one.record('node1', 1)
        waiting = pool.submit(other.take, 1)
        assert concurrent.futures.wait([waiting], 0.2).not_done
        one.commit()
        assert waiting.result() == 1


def test_a_commit_whose_answer_is_lost_fails_and_is_carried_out(tables):
    """The client cannot know: it has to read back."""
    first, second, relay = tables
    with leases.begun(first) as one:
        one.beat(1)
        one.record('node1', 1)
        error = leases.commit_without_answer(one, relay, second.nodes)
    assert isinstance(error, exception.DBConnectionError)
    assert first.nodes() == ['node1']


def test_a_session_that_the_server_ends_is_a_lost_connection(tables, pair):
    first, second, _ = tables
    with leases.begun(first) as one:
        assert one.beat(1) == 1
        assert pair.kill_sessions('fleet') >= 1
        with pytest.raises(exception.DBConnectionError):
            one.commit()
    with leases.begun(second) as other:
        assert other.beat(1) == 1


def test_a_server_without_a_processor_answers_when_it_goes_on(tables, pair):
    first, *_ = tables
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first.epoch()
        with pair.stopped():
            asked = pool.submit(first.epoch)
            assert concurrent.futures.wait([asked], 0.2).not_done
        assert asked.result() == 1


def test_a_promoted_standby_lacks_the_commits_that_it_did_not_receive(
    tables, pair
):
    """Epoch and record are older: who took over has no lease any more."""
    first, _, relay = tables
    with leases.begun(first) as one:
        one.beat(1)
        one.record('node1', 1)
        one.commit()
    pair.wait_for_standby()
    pair.part()
    with leases.begun(first) as one:
        assert one.take(1) == 1
        one.record('node2', 2)
        one.commit()
    assert first.nodes() == ['node1', 'node2']
    pair.fail_over()
    relay.drop()
    # oslo.db asks an old connection something first, and makes a new one.
    assert first.epoch() == 1
    assert first.nodes() == ['node1']
    with leases.begun(first) as one:
        assert one.beat(2) == 0
