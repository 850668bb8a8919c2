# SPDX-License-Identifier: Apache-2.0
"""A tree of one provider is checked by its allocations between two lists."""

import pytest
from looking import CHILD, NODE, content, creation, reads

from report_client import errors

LIST, CHECK = f'in_tree={NODE}', f'{NODE}/allocations'
INTERVAL = 300


@pytest.fixture
def station(new_station):
    """A node of one provider, which was listed and read just now."""
    made = new_station(sharing_interval=INTERVAL)
    made.cloud.put(NODE, generation=5, consumers=['one'])
    made.look(NODE)
    return made


@pytest.fixture
def checked(station):
    """The same, after a check."""
    station.look(NODE)
    return station


# --- which request ------------------------------------------------------------


def test_the_first_observation_lists_the_tree(new_station):
    made = new_station(sharing_interval=INTERVAL)
    made.cloud.put(NODE)
    assert made.asking(NODE)[1] == [LIST, *reads(NODE)]


def test_the_next_ones_ask_for_the_allocations_alone(station):
    first, asked = station.asking(NODE)
    assert asked == [CHECK]
    again, asked = station.asking(NODE)
    assert asked == [CHECK]
    assert again[NODE] is first[NODE]
    assert content(again[NODE]) == {NODE: 5}


@pytest.mark.parametrize(
    ('age', 'expected'),
    [(INTERVAL - 1, CHECK), (INTERVAL, LIST), (-1, LIST)],
)
def test_a_list_is_enough_for_some_time(checked, age, expected):
    checked.now += age
    assert checked.asking(NODE)[1] == [expected]
    assert checked.asking(NODE)[1] == [CHECK]


def test_it_is_never_enough_for_more_than_five_minutes(new_station):
    made = new_station(sharing_interval=float('inf'))
    made.cloud.put(NODE)
    made.look(NODE)
    made.now += 300
    assert made.asking(NODE)[1] == [LIST]


def test_without_an_interval_the_tree_is_listed_each_time(new_station):
    made = new_station()
    made.cloud.put(NODE)
    made.look(NODE)
    assert made.asking(NODE)[1] == [LIST]


def test_a_tree_of_two_is_listed_each_time(station):
    station.cloud.put(CHILD, NODE)
    station.now += INTERVAL
    for _ in range(2):
        station.look(NODE)
    assert station.asking(NODE)[1] == [LIST]


def test_a_child_of_another_provider_is_listed_each_time(new_station):
    made = new_station(sharing_interval=INTERVAL)
    made.cloud.put('chassis')
    made.cloud.put(NODE, 'chassis')
    made.cloud.hidden.add('chassis')
    made.look(NODE)
    assert made.asking(NODE)[1] == [LIST]


def test_an_open_intent_has_the_tree_listed(checked):
    checked.intend(creation(NODE, CHILD))
    assert LIST in checked.asking(NODE)[1]


def test_a_plan_that_is_sent_has_the_tree_listed(checked):
    checked.observer.list_again(NODE)
    assert checked.asking(NODE)[1] == [LIST]


def test_on_request_all_trees_are_listed(checked):
    checked.observer.invalidate()
    assert checked.asking(NODE)[1] == [LIST]


def test_a_node_that_left_is_listed_when_it_comes_back(checked):
    checked.observer.forget_except([])
    assert checked.asking(NODE)[1] == [LIST]


def test_a_standby_lists_and_records_nothing(checked):
    checked.cloud.put(NODE, generation=6, consumers=['one', 'two'])
    checked.cloud.take()
    checked.observer.begin_warm([NODE])
    assert checked.cloud.take() == [LIST]
    assert checked.known(NODE).provider.generation == 5


def test_in_a_crowd_each_tree_is_checked(station):
    station.cloud.put('second')
    for number in range(500):
        station.cloud.put(f'other-{number}')
    for _ in range(2):
        station.look(NODE, 'second')
    assert station.asking(NODE, 'second')[1] == [CHECK, 'second/allocations']


# --- what the answer tells ----------------------------------------------------


def test_one_new_consumer_and_one_generation_more_are_an_allocation(checked):
    checked.cloud.put(NODE, generation=6, consumers=['one', 'two'])
    found, asked = checked.asking(NODE)
    assert asked == [CHECK]
    assert content(found[NODE]) == {NODE: 6}
    assert not found[NODE].fresh
    assert checked.known(NODE).read_at == checked.now
    assert checked.asking(NODE)[1] == [CHECK]


@pytest.mark.parametrize(
    ('generation', 'consumers'),
    [
        (7, ['one', 'two']),  # a second write, perhaps of the contents
        (6, ['one']),  # a write of the contents
        (6, []),  # the same; the end of an allocation raises nothing
    ],
)
def test_any_other_change_has_the_tree_listed_and_read(
    checked, generation, consumers
):
    checked.cloud.put(
        NODE, generation=generation, consumers=consumers, traits=['A']
    )
    found, asked = checked.asking(NODE)
    assert asked == [CHECK, LIST, *reads(NODE)]
    assert found[NODE].providers[NODE].traits == {'A'}
    assert found[NODE].providers[NODE].generation == generation


def test_without_earlier_consumers_nothing_is_an_allocation(station):
    station.cloud.put(NODE, generation=6, consumers=['one', 'two'])
    assert station.asking(NODE)[1] == [CHECK, LIST, *reads(NODE)]


def test_consumers_of_an_older_generation_prove_nothing(checked):
    """The provider was written, and read by a list, in between."""
    checked.cloud.put(NODE, generation=6, consumers=['one'])
    checked.now += INTERVAL
    checked.look(NODE)
    checked.cloud.put(NODE, generation=7, consumers=['one', 'two'])
    assert checked.asking(NODE)[1] == [CHECK, LIST, *reads(NODE)]


def test_a_lower_generation_has_the_tree_listed(checked):
    checked.cloud.put(NODE, generation=4)
    assert checked.asking(NODE)[1][:2] == [CHECK, LIST]


def test_while_a_reading_is_in_doubt_the_tree_is_listed(new_station):
    made = new_station(sharing_interval=INTERVAL)
    made.wait = 60.0
    made.observer = made.started(sharing_interval=INTERVAL)
    made.cloud.put(NODE, generation=5)
    made.look(NODE)
    made.cloud.put(NODE, generation=4)
    for _ in range(2):
        found, asked = made.asking(NODE)
        assert LIST in asked
        assert isinstance(found[NODE], Exception)
    assert CHECK not in asked


def test_a_provider_that_is_gone_is_looked_for_in_the_list(checked):
    del checked.cloud.there[NODE]
    found, asked = checked.asking(NODE)
    assert asked == [CHECK, LIST]
    assert not found[NODE].providers


def test_a_cloud_that_shows_no_allocations_is_asked_for_lists(checked):
    checked.cloud.faults[CHECK] = errors.NotAuthorised('no')
    found, asked = checked.asking(NODE)
    assert asked == [CHECK, LIST]
    assert content(found[NODE]) == {NODE: 5}
    assert checked.asking(NODE)[1] == [LIST]


def test_a_child_of_another_writer_is_found_by_the_next_list(checked):
    checked.cloud.put(CHILD, NODE)
    assert content(checked.look(NODE)[NODE]) == {NODE: 5}
    checked.now += INTERVAL
    assert content(checked.look(NODE)[NODE]) == {NODE: 5, CHILD: 1}


def test_the_slow_full_read_is_due_in_its_own_time(new_station):
    made = new_station(sharing_interval=INTERVAL, interval=200)
    made.cloud.put(NODE, generation=5, consumers=['one'])
    made.look(NODE)
    made.look(NODE)
    made.cloud.put(NODE, generation=6, consumers=['one', 'two'])
    made.now += 100
    assert made.asking(NODE)[1] == [CHECK]
    made.now += 100
    assert made.asking(NODE)[1] == [CHECK, *reads(NODE)]
