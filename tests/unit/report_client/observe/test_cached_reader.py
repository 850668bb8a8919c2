# SPDX-License-Identifier: Apache-2.0
"""A provider is read again only if it may have changed."""

import dataclasses

import pytest
from looking import CHILD, NODE, NOW, listed, reads, tagging

from compute_agent import errors
from compute_agent.tree import assertion


@pytest.fixture
def station(new_station):
    made = new_station()
    made.cloud.put(NODE, generation=5, traits='A')
    made.cloud.put(CHILD, NODE, generation=2)
    return made


def recalled(station, *some, interval=0, kept=None, **fields):
    """Return what a look recalls of these rows, None for nothing."""
    one = station.begun(*some, **fields)
    known = (
        station.state.snapshot.readings([NODE, CHILD])
        if kept is None
        else kept
    )
    stands = station.readings(interval).recall(one, known)
    assert stands or not one.readings
    return one if stands else None


# --- what is read -------------------------------------------------------------


def test_what_is_not_known_is_read_and_kept(station):
    one = station.read()
    assert station.cloud.take() == reads(NODE, CHILD)
    assert one.readings == {
        uuid: station.known(uuid) for uuid in (NODE, CHILD)
    }
    root = station.known(NODE)
    assert (root.provider.generation, root.read_at) == (5, NOW)
    assert root.provider.traits == {'A'}
    assert station.known(CHILD).root_uuid == NODE


def test_what_stands_still_is_remembered(station):
    first = station.read()
    station.cloud.take()
    second = station.read()
    assert station.cloud.take() == []
    assert all(second.readings[u] is station.known(u) for u in (NODE, CHILD))
    assert second.readings == first.readings


def test_all_parts_of_what_was_read_are_fresh_and_of_nothing_else(station):
    assert station.read(*station.rows(NODE)).fresh == {
        (NODE, kind) for kind in assertion.Kind
    }
    assert station.read().fresh == {(CHILD, kind) for kind in assertion.Kind}
    assert station.read().fresh == set()
    station.cloud.put(NODE, generation=6)
    station.cloud.put(CHILD, NODE, generation=3)
    assert station.read().fresh == {
        (uuid, kind) for uuid in (NODE, CHILD) for kind in assertion.Kind
    }


@pytest.mark.parametrize(
    'other',
    [{'generation': 6}, {'name': 'renamed'}],
    ids=['generation', 'name'],
)
def test_what_moved_is_read_again_and_nothing_else(station, other):
    station.read()
    station.cloud.take()
    station.cloud.put(NODE, **{'generation': 5, **other})
    one = station.read()
    assert station.cloud.take() == reads(NODE)
    assert one.readings[NODE] == station.known(NODE)
    assert station.known(NODE).provider.traits == frozenset()


@pytest.mark.parametrize(
    ('parent', 'root'), [('other', NODE), (NODE, 'other')]
)
def test_what_was_moved_is_read_again(station, parent, root):
    station.read()
    station.cloud.take()
    station.read(listed(CHILD, parent, root, generation=2))
    assert station.cloud.take() == reads(CHILD)
    known = station.known(CHILD)
    assert (known.provider.parent_uuid, known.root_uuid) == (parent, root)


def test_what_was_only_just_created_did_not_fall(station):
    station.cloud.put(NODE, generation=0)
    station.read(*station.rows(NODE))
    station.cloud.take()
    assert station.read(*station.rows(NODE)).fresh == set()
    assert station.cloud.take() == []


# --- what is recalled ---------------------------------------------------------


def test_a_tree_that_stands_still_is_recalled_whole(station):
    station.read()
    station.cloud.take()
    one = recalled(station)
    assert one.readings == station.state.snapshot.readings([NODE, CHILD])
    assert (one.fresh, one.notes) == (set(), {})
    assert station.cloud.take() == []


def test_a_tree_of_which_one_is_not_known_is_not_recalled(station):
    station.read(*station.rows(NODE))
    assert recalled(station) is None


def test_a_tree_of_which_one_moved_is_not_recalled(station):
    station.read()
    station.cloud.put(CHILD, NODE, generation=3)
    assert recalled(station) is None


def test_a_tree_of_which_one_is_suspect_is_not_recalled(station):
    station.read()
    kept = station.state.snapshot.readings([NODE, CHILD])
    kept[CHILD] = dataclasses.replace(kept[CHILD], suspect_since=1.0)
    assert recalled(station, kept=kept) is None


def test_a_tree_with_a_write_that_was_cut_off_is_not_recalled(station):
    station.read()
    intents = {CHILD: [tagging(NODE, CHILD, 'A', generation=3)]}
    assert recalled(station, intents=intents) is None


def test_a_tree_that_is_due_is_not_recalled(station):
    station.read()
    assert recalled(station, interval=100)
    station.now += 100
    assert recalled(station, interval=100) is None
    assert recalled(station, interval=0)


# --- the slow read ------------------------------------------------------------


def test_it_is_overdue_from_its_interval_on(station):
    slow = station.readings(100)
    assert [slow.is_overdue(NOW - age) for age in (0, 99, 100, 101)] == [
        False,
        False,
        True,
        True,
    ]


def test_it_is_overdue_if_the_clock_was_set_back(station):
    assert station.readings(100).is_overdue(NOW + 0.5)


def test_a_share_of_the_interval_is_that_share(station):
    slow = station.readings(100)
    assert not slow.is_overdue(NOW - 49, 0.5)
    assert slow.is_overdue(NOW - 50, 0.5)


def test_without_an_interval_only_what_was_never_read_is_overdue(station):
    never = station.readings(0)
    assert not never.is_overdue(1)
    assert never.is_overdue(0)


def due_at(station, uuid, interval):
    """Return the age from which on a provider is not recalled."""
    station.read(listed(uuid))
    kept = {uuid: dataclasses.replace(station.known(uuid), read_at=NOW)}
    ages = range(interval * 8 // 10, interval + 1)
    found = []
    for age in ages:
        station.now = NOW + age
        if recalled(station, listed(uuid), interval=interval, kept=kept):
            found.append(age)
    assert found == list(ages)[: len(found)]
    return found[-1] + 1


def test_slow_reads_are_spread_over_the_last_tenth_of_the_interval(station):
    due = []
    for number in range(30):
        station.cloud.put(f'node-{number}')
        due.append(due_at(station, f'node-{number}', 1000))
    assert 900 <= min(due) < 920
    assert 980 < max(due) <= 1000
    assert len(set(due)) > 20


# --- writes that were cut off -------------------------------------------------


def test_a_write_that_was_done_is_settled_by_a_read(station):
    station.read()
    made = tagging(NODE, CHILD, 'A', generation=3)
    station.intend(made)
    station.cloud.put(CHILD, NODE, generation=3, traits='A')
    station.cloud.take()
    one = station.read(intents={CHILD: [made]})
    assert station.cloud.take() == reads(CHILD)
    assert station.state.journal.intents([NODE]) == {}
    assert station.state.records.record([CHILD], NODE).ours == {
        (CHILD, assertion.Kind.TRAIT): {'A'}
    }
    assert one.notes == {NODE: (), CHILD: ()}


def test_one_that_was_not_done_is_read_though_it_stands_still(station):
    station.read()
    cut = tagging(NODE, CHILD, 'A', generation=3)
    station.intend(cut)
    station.cloud.take()
    station.read(intents={CHILD: [cut]})
    assert station.cloud.take() == reads(CHILD)
    assert station.state.journal.intents([NODE]) == {}
    assert station.state.records.record([CHILD], NODE).ours == {}


def test_of_one_that_cannot_be_told_there_is_a_note(station):
    station.read()
    cut = tagging(NODE, CHILD, 'A', generation=3)
    station.intend(cut)
    station.cloud.put(CHILD, NODE, generation=4, traits='AB')
    one = station.read(intents={CHILD: [cut]})
    assert one.notes[NODE] == ()
    (note,) = one.notes[CHILD]
    assert note.startswith(f'{CHILD}: a write was interrupted')
    assert 'whether it added A; they count as' in note


def test_what_was_never_cut_off_is_not_settled(station):
    settled = []
    station.state.journal.record_outcome = lambda *some: settled.append(some)
    station.read()
    assert settled == []


# --- what fails ---------------------------------------------------------------


def test_what_cannot_be_read_leaves_nothing_remembered(station):
    fault = station.cloud.faults[f'{CHILD}/aggregates'] = errors.UnknownState(
        'away'
    )
    with pytest.raises(errors.UnknownState) as caught:
        station.read()
    assert caught.value is fault
    assert (station.known(NODE), station.known(CHILD)) == (None, None)
