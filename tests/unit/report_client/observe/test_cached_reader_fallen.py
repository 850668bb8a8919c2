# SPDX-License-Identifier: Apache-2.0
"""A lower generation means an older list, or a re-created provider."""

import dataclasses
import logging

import pytest
from looking import CHILD, NODE, NOW, listed, reads

from compute_agent import errors
from compute_agent.tree import assertion, provider

FELL = (
    'the generation fell, so this cycle changes nothing here; if it is still '
    'lower 0 s after the first time, the agent decides: placement was restored '
    'from a backup, or another writer deleted the provider and created it again'
)


@pytest.fixture
def station(new_station):
    made = new_station()
    made.cloud.put(NODE, generation=5, traits='A')
    made.cloud.put(CHILD, NODE, generation=2)
    return made


# --- a generation that fell ---------------------------------------------------


def test_a_generation_that_fell_is_unknown_at_first(station):
    station.read()
    station.cloud.put(NODE, generation=4)
    station.cloud.take()
    with pytest.raises(errors.UnknownState) as caught:
        station.read()
    assert str(caught.value) == f'{NODE}: {FELL}'
    assert station.cloud.take() == []
    known = station.known(NODE)
    assert known.suspect
    assert known.provider.generation == 5
    assert not station.known(CHILD).suspect


def test_all_that_fell_are_named(station):
    station.read()
    station.cloud.put(NODE, generation=1)
    station.cloud.put(CHILD, NODE, generation=1)
    with pytest.raises(errors.UnknownState, match=f'^{NODE}, {CHILD}: the'):
        station.read()


def test_if_it_fell_twice_another_provider_stands_there(station, caplog):
    station.read()
    station.create(NODE, NODE)
    station.cloud.put(NODE, generation=4, traits='B')
    with pytest.raises(errors.UnknownState):
        station.read()
    station.cloud.take()
    assert station.read().readings[NODE].provider.traits == {'B'}
    assert station.cloud.take() == reads(NODE)
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert warning.getMessage() == (
        f'{NODE} was deleted and created again by another writer: the record '
        'of what this agent added to the old provider is dropped'
    )
    assert not station.known(NODE).suspect
    assert station.state.records.created_for([NODE]) == {}
    assert station.read().fresh == set()


def test_if_it_did_not_fall_again_it_is_the_same(station, caplog):
    station.read()
    station.create(NODE, NODE)
    station.cloud.put(NODE, generation=4)
    with pytest.raises(errors.UnknownState):
        station.read()
    station.cloud.put(NODE, generation=5, traits='A')
    station.cloud.take()
    assert station.read().fresh == {(NODE, kind) for kind in assertion.Kind}
    assert not station.known(NODE).suspect
    assert station.state.records.created_for([NODE]) == {NODE: [NODE]}
    assert caplog.messages == []


def test_one_that_falls_beside_one_that_fell_twice_keeps_both(station, caplog):
    station.read()
    station.cloud.put(NODE, generation=4)
    with pytest.raises(errors.UnknownState):
        station.read()
    station.cloud.put(CHILD, NODE, generation=1)
    with pytest.raises(errors.UnknownState, match=f'^{CHILD}: the'):
        station.read()
    assert caplog.messages == []
    assert station.known(NODE).suspect
    assert station.known(CHILD).suspect


# --- what another thread did meanwhile ----------------------------------------


def moved(station, uuid, generation, **fields):
    """Let another thread read a provider that moved meanwhile."""
    known = station.known(uuid)
    one = dataclasses.replace(known.provider, generation=generation)
    station.state.journal.save(
        [dataclasses.replace(known, provider=one, **fields)]
    )


def test_a_row_that_is_older_than_what_was_learnt_is_passed_over(station):
    station.read()
    since, before = station.state.journal.moment(), station.rows()
    moved(station, NODE, 8)
    station.cloud.take()
    one = station.read(*before, since=since)
    assert station.cloud.take() == []
    assert one.readings[NODE].provider.generation == 8
    assert one.fresh == set()
    assert not station.known(NODE).suspect


def test_what_was_learnt_before_the_look_passes_nothing_over(station):
    station.read()
    before = station.rows()
    moved(station, NODE, 8)
    with pytest.raises(errors.UnknownState, match=f'^{NODE}: the'):
        station.read(*before)


def test_what_falls_beside_one_that_is_passed_over_is_seen(station):
    station.read()
    since = station.state.journal.moment()
    moved(station, NODE, 8)
    before = [*station.rows(NODE), listed(CHILD, NODE, NODE, generation=1)]
    with pytest.raises(errors.UnknownState, match=f'^{CHILD}: the'):
        station.read(*before, since=since)
    assert not station.known(NODE).suspect


def test_what_moved_beside_one_that_is_passed_over_is_read(station):
    station.read()
    since, old = station.state.journal.moment(), station.rows(NODE)
    moved(station, NODE, 8)
    station.cloud.put(CHILD, NODE, generation=3)
    station.cloud.take()
    station.read(*old, *station.rows(CHILD), since=since)
    assert station.cloud.take() == reads(CHILD)


def test_a_row_as_new_as_what_was_learnt_is_read_if_it_moved(station):
    station.read()
    since = station.state.journal.moment()
    moved(station, NODE, 6)
    station.cloud.put(NODE, generation=7)
    station.cloud.take()
    station.read(since=since)
    assert station.cloud.take() == reads(NODE)


def test_one_that_another_thread_saw_fall_is_unknown_here_too(station):
    station.read()
    since = station.state.journal.moment()
    moved(station, NODE, 5, suspect_since=NOW)
    station.cloud.take()
    low = listed(NODE, generation=4)
    with pytest.raises(errors.UnknownState, match=f'^{NODE}: the'):
        station.read(low, *station.rows(CHILD), since=since)
    assert station.cloud.take() == []


def test_what_another_thread_wrote_meanwhile_is_kept(station):
    """The look reads what a later write replaces: that one counts."""
    node = provider.Provider(uuid=NODE, name=NODE, generation=6)
    wrote = provider.Reading(provider=node, root_uuid=NODE, read_at=NOW)
    station.cloud.meanwhile[f'{CHILD}/traits'] = lambda: (
        station.state.journal.save([wrote])
    )
    station.read()
    known = station.known(NODE)
    assert known == wrote
    assert known.provider.generation == 6


def test_that_it_fell_is_not_kept_over_what_another_thread_wrote(station):
    station.read()
    since, low = station.state.journal.moment(), listed(NODE, generation=4)
    read = station.readings()
    newer, written = station.state.journal.newer, []

    def told(uuids, moment):
        found = newer(uuids, moment)
        if not written:
            written.append(moved(station, NODE, 8))
        return found

    station.state.journal.newer = told
    one = station.begun(low, since=since)
    with pytest.raises(errors.UnknownState):
        read.read(one, one.rows)
    known = station.known(NODE)
    assert (known.provider.generation, known.suspect) == (8, False)
