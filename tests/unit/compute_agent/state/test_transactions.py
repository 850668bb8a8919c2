# SPDX-License-Identifier: Apache-2.0
"""Every write is done as a whole or not at all, among threads too."""

import concurrent.futures
import sqlite3
import threading

import pytest
import threads

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.tree import assertion, provider

NODE = '11111111-1111-4111-8111-111111111111'
TRAIT = assertion.Kind.TRAIT


class Broken(Exception):
    pass


@pytest.fixture
def waiting():
    """The threads that have to wait for the state."""
    return threads.Waiting()


@pytest.fixture(params=['in memory', 'on disk'])
def state(request, tmp_path, waiting):
    with waiting.watching():
        opened = (
            state_module.State.in_memory('here')
            if request.param == 'in memory'
            else state_module.State.open(tmp_path, 'here')
        )
    yield opened
    opened.close()


def reading(uuid=NODE):
    one = provider.Provider(uuid=uuid, name=uuid, generation=1)
    return provider.Reading(provider=one, root_uuid=NODE, read_at=1.0)


def creation(uuid=NODE):
    return intents.Intent(node_uuid=uuid, uuid=uuid, kind=None, generation=0)


def breaking(*values):
    yield from values
    raise Broken


def test_a_failed_save_changes_nothing(state):
    with pytest.raises(Broken):
        state.journal.save(breaking(reading()))
    assert state.snapshot.readings([NODE]) == {}
    state.journal.save([reading()])
    assert state.snapshot.readings([NODE]) == {NODE: reading()}


def test_a_failed_outcome_changes_nothing(state):
    state.journal.begin(NODE, [creation()], {})
    with pytest.raises(Broken):
        state.journal.record_outcome([creation()], gone=breaking('other'))
    assert state.records.record([NODE], NODE).created == set()
    assert state.journal.intents([NODE]).get(NODE, {}) == {NODE: [creation()]}


def test_a_failed_begin_changes_nothing(state):
    class Odd:
        """Whatever cannot be stored as a name."""

    with pytest.raises(TypeError):
        state.journal.begin(
            NODE,
            [creation()],
            {(NODE, TRAIT): {'a': frozenset({'A'}), 'b': frozenset({Odd()})}},
        )
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.records.record([NODE], NODE).claims == {}


@pytest.mark.parametrize(
    ('reader', 'before'),
    [
        (lambda s: s.records.record([NODE], NODE), Record()),
        (lambda s: s.snapshot.readings([NODE]), {}),
        (lambda s: s.snapshot.members([NODE]).get(NODE, set()), set()),
        (lambda s: s.records.created_for([NODE]).get(NODE, []), []),
        (
            lambda s: s.journal.intents([NODE]).get(NODE, {}),
            {NODE: [creation()]},
        ),
    ],
    ids=['record', 'readings', 'members', 'created_for', 'intents'],
)
def test_no_thread_sees_a_write_that_is_rolled_back(
    state, waiting, reader, before
):
    """A look in the middle of the write is over by then, or waits for it."""
    state.journal.begin(NODE, [creation()], {})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:

        def meanwhile():
            looks.append(pool.submit(reader, state))
            looks[0].add_done_callback(lambda _: waiting.note())
            waiting.wait_for(1)
            raise Broken
            yield

        looks = []
        with pytest.raises(Broken):
            state.journal.record_outcome(
                [creation()], readings=[reading()], gone=meanwhile()
            )
        assert looks[0].result() == before


def test_writes_of_many_threads_are_all_kept(state):
    uuids = [f'{n:08}-0000-4000-8000-000000000000' for n in range(64)]
    start = threading.Barrier(8)

    def work(some):
        start.wait()
        for uuid in some:
            state.journal.begin(uuid, [creation(uuid)], {})
            state.journal.record_outcome(
                [creation(uuid)], readings=[reading(uuid)]
            )
            assert state.records.created_for([uuid]).get(uuid, []) == [uuid]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(work, [uuids[n::8] for n in range(8)]))
    assert state.records.record(uuids, NODE).created == set(uuids)
    assert state.snapshot.members([NODE]).get(NODE, set()) == set(uuids)


def test_a_failed_write_raises_and_the_state_stays_usable(tmp_path):
    state = state_module.State.open(tmp_path, 'here')
    with sqlite3.connect(tmp_path / 'state.sqlite') as other:
        other.execute('drop table known')
    other.close()
    with pytest.raises(errors.Unavailable, match='cannot be written'):
        state.site.save_known_names(None)
    state.journal.save([reading()])
    assert state.snapshot.readings([NODE]) == {NODE: reading()}
    state.close()
