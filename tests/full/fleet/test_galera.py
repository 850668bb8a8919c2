# SPDX-License-Identifier: Apache-2.0
"""What a Galera cluster does with a lease that is a row, at two servers."""

import contextlib

import leases
import pytest
from oslo_db import exception

pytestmark = pytest.mark.long


@pytest.fixture
def tables(galera):
    """A client at each of the servers."""
    galera.new_database('fleet')
    with contextlib.ExitStack() as ended:
        found = [
            ended.enter_context(
                leases.client(galera.url('fleet', galera.address(number)))
            )
            for number in range(3)
        ]
        found[0].make()
        galera.wait_for_all()
        yield found


def test_one_of_two_who_take_over_at_two_servers_fails(tables, galera):
    """Both change the row; the one that commits last gets 1213."""
    with leases.begun(tables[0]) as one, leases.begun(tables[1]) as other:
        assert (one.take(1), other.take(1)) == (1, 1)
        other.commit()
        with pytest.raises(exception.DBDeadlock) as refused:
            one.commit()
    assert refused.value.inner_exception.orig.args[0] == 1213
    galera.wait_for_all()
    assert [table.epoch() for table in tables[:2]] == [2, 2]


def test_a_holder_that_writes_the_row_is_refused_after_a_take_over(
    tables, galera
):
    """Its whole transaction is undone, with the record in it."""
    with leases.begun(tables[0]) as one, leases.begun(tables[1]) as other:
        assert one.beat(1) == 1
        assert other.take(1) == 1
        other.commit()
        with pytest.raises(exception.DBDeadlock):
            one.record_and_commit('node1', 1)
    galera.wait_for_all()
    assert [table.nodes() for table in tables] == [[], [], []]


def test_a_row_that_is_read_for_share_does_not_keep_others_waiting(
    tables, galera
):
    """A lock of a reader is one server's: the other server commits at once.

    The reader's transaction is ended if the change arrives while it is open
    (1213). But one that begins before the change has arrived reads the old
    epoch and commits: in 400 tries directly after a take-over 61 did, and none
    that wrote the row instead.
    """
    with leases.begun(tables[0]) as one, leases.begun(tables[1]) as other:
        assert one.read_shared() == 1
        assert other.take(1) == 1
        other.commit()
        assert tables[1].epoch() == 2
        galera.wait_for_all()
        with pytest.raises(exception.DBDeadlock):
            one.record_and_commit('node1', 1)


def test_a_lock_with_a_name_is_given_at_each_server(tables):
    with leases.begun(tables[0]) as one, leases.begun(tables[1]) as other:
        assert (one.lock_by_name(), other.lock_by_name()) == (1, 1)


def test_a_server_without_the_others_takes_nothing(tables, galera):
    """A holder there cannot commit; one at another server takes over."""
    tables[2].epoch()
    with galera.isolated(2):
        with pytest.raises(exception.DBError) as refused:
            tables[2].epoch()
        assert refused.value.inner_exception.orig.args[0] == 1047
        with leases.begun(tables[0]) as other:
            assert other.take(1) == 1
            other.commit()
    galera.wait_for_all()
    with leases.begun(tables[2]) as one:
        assert one.beat(1) == 0


def test_the_others_go_on_without_a_server_that_is_stopped(tables, galera):
    with galera.stopped(2):
        with leases.begun(tables[0]) as other:
            assert other.take(1) == 1
            other.commit()
        assert tables[0].epoch() == 2
    galera.wait_for_all()
    with leases.begun(tables[2]) as one:
        assert one.beat(1) == 0


def test_a_commit_whose_answer_is_lost_fails_and_is_carried_out(
    tables, galera, relaying
):
    relay = relaying(galera.address)
    with (
        leases.client(galera.url('fleet', relay.address)) as far,
        leases.begun(far) as one,
    ):
        one.beat(1)
        one.record('node1', 1)
        error = leases.commit_without_answer(one, relay, tables[0].nodes)
    assert isinstance(error, exception.DBConnectionError)
    assert tables[0].nodes() == ['node1']
