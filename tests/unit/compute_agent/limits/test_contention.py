# SPDX-License-Identifier: Apache-2.0
"""Items that another writer keeps undoing are left out for an hour.

White-box: two tests look at the private memory, because its size and that it is
empty show nowhere else.
"""

import dataclasses

import pytest

from compute_agent.limits import contended, contention
from compute_agent.tree import assertion, inventory, provider

A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'
C = '33333333-3333-4333-8333-333333333333'
Kind = assertion.Kind
AVX = contention.Item(uuid=A, kind=Kind.TRAIT, name='HW_CPU_X86_AVX')
NO_AVX = dataclasses.replace(AVX, there=False)
EIGHT = contention.Item(
    uuid=A,
    kind=Kind.INVENTORY,
    name='VCPU',
    record=inventory.Inventory(total=8),
)
CREATED = contention.Item(uuid=B, kind=None)


def end(memory, done, skipped=()):
    """End a cycle of one node."""
    turn = contention.NodeOutcome(
        node='one', done=frozenset(done), skipped=frozenset(skipped)
    )
    memory.end_cycle([turn])


class Clock:
    """A clock that a test sets."""

    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(clock):
    return contention.Contention(clock)


def fight(memory, clock, cycles, item=AVX, undoing=lambda _cycle: True):
    """Let each change be undone; return the cycles that made it.

    A cycle takes a minute.

    :param undoing: whether the other writer acts after this cycle
    """
    made, there = [], False
    for cycle in range(1, cycles + 1):
        left = not there and item in memory.contended()
        applied = [item] if not there and not left else []
        end(memory, applied, [item] if left else [])
        made += [cycle] if applied else []
        there = (there or bool(applied)) and not undoing(cycle)
        clock.now += 60
    return made


def test_three_times_undone_is_contended_and_tried_once_an_hour(memory, clock):
    # The hour begins when a try turns out to be undone, a cycle later.
    made = fight(memory, clock, 200)
    assert made == [1, 2, 3, 4, 64, 125, 186]


@pytest.mark.parametrize('every', [5, 6, 60])
def test_an_item_undone_seldom_is_contended_after_as_many_undos(
    memory, clock, every
):
    """As by nova-compute, which looks at placement every five minutes."""
    made = fight(memory, clock, 400, undoing=lambda c: c % every == 0)
    assert made[:4] == [1, *(every * n + 1 for n in (1, 2, 3))]
    assert len(made) <= 4 + 400 // 60


def test_undone_three_times_in_more_than_a_day_is_no_contention(memory, clock):
    for _ in range(10):
        end(memory, [AVX])
        clock.now += 9 * 3600
    assert memory.contended() == frozenset()


def test_a_try_that_stands_a_day_ends_it(memory, clock):
    made = fight(memory, clock, 1600, undoing=lambda cycle: cycle < 20)
    assert made == [1, 2, 3, 4, 64]
    assert memory.contended() == frozenset()
    assert memory.changed() == {AVX.key: None}
    made = fight(memory, clock, 10)
    assert made == [1, 2, 3, 4]


def test_a_try_that_is_undone_within_a_day_costs_no_other_write(memory, clock):
    made = fight(memory, clock, 300, undoing=lambda c: c < 10 or c == 200)
    assert made == [1, 2, 3, 4, 64, 261]


def test_our_own_to_and_fro_is_no_contention(memory):
    for _ in range(20):
        end(memory, [AVX])
        end(memory, [NO_AVX])
    assert memory.contended() == frozenset()


def test_another_outcome_in_between_begins_anew(memory):
    for _ in range(3):
        end(memory, [AVX])
    end(memory, [NO_AVX])
    for _ in range(3):
        end(memory, [AVX])
    assert memory.contended() == frozenset()
    end(memory, [AVX])
    assert memory.contended() == {AVX}


def test_a_value_that_moves_each_time_is_no_contention(memory):
    for total in range(1, 30):
        record = inventory.Inventory(total=total)
        end(memory, [dataclasses.replace(EIGHT, record=record)])
    assert memory.contended() == frozenset()


def test_a_provider_of_ours_that_comes_and_goes_is_no_contention(memory):
    below = dataclasses.replace(AVX, uuid=B)
    gone = dataclasses.replace(CREATED, there=False)
    for _ in range(20):
        end(memory, [CREATED, below])
        end(memory, [gone])
    assert memory.contended() == frozenset()


def test_a_trial_that_is_not_needed_ends_it(memory, clock):
    assert fight(memory, clock, 63) == [1, 2, 3, 4]
    clock.now += 3600
    end(memory, [])  # the other one did it himself
    assert fight(memory, clock, 5) == [1, 2, 3, 4]


def test_a_clock_that_was_set_back_does_not_prolong_it(memory, clock):
    assert fight(memory, clock, 10) == [1, 2, 3, 4]
    clock.now -= 10 * 86_400
    assert memory.contended() == frozenset()


def test_memory_is_bounded(memory, monkeypatch):
    monkeypatch.setattr(contention, 'MOST_MADE', 10)
    monkeypatch.setattr(contention, 'MOST_UNDONE', 5)
    items = [
        dataclasses.replace(AVX, name=f'CUSTOM_{number}')
        for number in range(100)
    ]
    for item in items:
        end(memory, [item])
    assert len(memory._histories) == 10
    for item in items:
        end(memory, [item])
        end(memory, [item])
    assert len(memory._undone) == 5
    assert len(memory._histories) <= 15


def test_what_nobody_undoes_is_forgotten_after_a_day(memory, clock):
    end(memory, [AVX])
    end(memory, [CREATED])
    end(memory, [CREATED])
    clock.now += 86_400
    end(memory, [])
    end(memory, [])
    assert memory._histories == memory._undone == {}


# --- several nodes, and cycles that tell nothing ------------------------------


def turn(node, *done, **what):
    return contention.NodeOutcome(node=node, done=frozenset(done), **what)


def test_two_nodes_that_differ_are_both_left_and_named(memory):
    nine = dataclasses.replace(EIGHT, record=inventory.Inventory(total=9))
    for _ in range(4):
        memory.end_cycle([turn('one', EIGHT), turn('two', nine)])
    left = memory.contended()
    assert left == {EIGHT, nine}
    for item in left:
        line = contended.line(item, {A: one()})
        assert 'nodes one, two of this agent want different states' in line


def test_it_counts_whichever_node_of_two_makes_it_again(memory):
    for node in ('one', 'two', 'one', 'three'):
        memory.end_cycle([turn(node, AVX)])
    assert memory.contended() == {AVX}
    (item,) = memory.contended()
    assert 'another writer undoes it' in contended.line(item, {A: one()})


def test_two_nodes_at_once_undo_nothing(memory):
    memory.end_cycle([turn('one', AVX), turn('two', AVX)])
    for _ in range(2):
        memory.end_cycle([turn('one', AVX), turn('two', AVX)])
    assert memory.contended() == frozenset()
    memory.end_cycle([turn('two', AVX)])
    assert memory.contended() == {AVX}


UNKNOWN = {
    'no plan': {'pending': None},
    'not applied': {'pending': frozenset({AVX})},
}


@pytest.fixture
def due(memory, clock):
    """A memory in which an item is due to be tried."""
    assert fight(memory, clock, 14) == [1, 2, 3, 4]
    clock.now += 3600
    assert memory.contended() == frozenset()
    return memory


@pytest.mark.parametrize('what', UNKNOWN.values(), ids=UNKNOWN)
def test_a_trial_is_not_over_by_a_cycle_that_tells_nothing(due, clock, what):
    end(due, [AVX])
    clock.now += 2 * 86_400
    for _ in range(3):
        due.end_cycle([turn('one', **what)])
        assert due.contended() == {AVX}
    end(due, [], [AVX])
    clock.now += 3599
    assert due.contended() == {AVX}
    clock.now += 1
    assert due.contended() == frozenset()


@pytest.mark.parametrize('what', UNKNOWN.values(), ids=UNKNOWN)
def test_a_trial_stays_due_until_it_can_be_made(due, what):
    for _ in range(3):
        due.end_cycle([turn('one', **what)])
    end(due, [AVX])
    assert due.contended() == {AVX}


def test_a_trial_made_again_at_once_was_undone(due, clock):
    """As it is where allocations move, and nothing can be left out."""
    end(due, [AVX])
    due.end_cycle([turn('two', AVX)])
    assert due.contended() == {AVX}
    clock.now += 3600
    assert due.contended() == frozenset()


def test_an_item_of_a_node_that_is_no_more_is_forgotten(due):
    due.end_cycle([turn('two', pending=None)])
    assert due.changed() == {AVX.key: None}


def test_a_restart_goes_on_counting(memory, clock):
    for _ in range(3):
        end(memory, [AVX])
    again = contention.Contention(clock)
    again.load(memory.changed())
    assert again.contended() == frozenset()
    end(again, [AVX])
    assert again.contended() == {AVX}


# --- what is left of a plan --------------------------------------------------


def one(**what):
    return provider.Provider(uuid=A, name='a', **what)


def vcpus(total):
    return {'VCPU': inventory.Inventory(total=total)}


AGGREGATE = contention.Item(uuid=A, kind=Kind.AGGREGATE, name=C)
NO_VCPU = dataclasses.replace(EIGHT, record=None, there=False)


@pytest.mark.parametrize(
    ('item', 'before', 'after'),
    [
        (AVX, one(), one(traits=frozenset({AVX.name}))),
        (NO_AVX, one(traits=frozenset({AVX.name})), one()),
        (AGGREGATE, one(), one(aggregates=frozenset({C}))),
        (EIGHT, one(), one(inventories=vcpus(8))),
        (EIGHT, one(inventories=vcpus(4)), one(inventories=vcpus(8))),
        (NO_VCPU, one(inventories=vcpus(4)), one()),
    ],
    ids=['trait', 'no trait', 'aggregate', 'class', 'record', 'no class'],
)
def test_a_contended_change_is_taken_out(item, before, after):
    other = frozenset({'HW_GPU'})
    after = dataclasses.replace(after, traits=after.traits | other)
    left, taken = contended.without_contended({A: before}, {A: after}, {item})
    assert left == {
        A: dataclasses.replace(before, traits=before.traits | other)
    }
    assert taken == (item,)


@pytest.mark.parametrize(
    ('item', 'before', 'after'),
    [
        (AVX, one(traits=frozenset({AVX.name})), one()),
        (AVX, one(), one()),
        (NO_AVX, one(), one(traits=frozenset({AVX.name}))),
        (EIGHT, one(inventories=vcpus(8)), one(inventories=vcpus(9))),
        (EIGHT, one(inventories=vcpus(8)), one(inventories=vcpus(8))),
        (EIGHT, one(inventories=vcpus(8)), one()),
        (NO_VCPU, one(), one(inventories=vcpus(8))),
    ],
)
def test_another_change_to_the_item_goes_on(item, before, after):
    left, taken = contended.without_contended({A: before}, {A: after}, {item})
    assert left == {A: after}
    assert taken == ()


def test_what_is_new_or_gone_is_not_the_contended_change():
    after = one(traits=frozenset({AVX.name}))
    assert contended.without_contended({}, {A: after}, {AVX}) == (
        {A: after},
        (),
    )
    assert contended.without_contended({A: after}, {}, {NO_AVX}) == ({}, ())


def test_a_contended_creation_is_left_with_all_below_it():
    root = one()
    new = provider.Provider(uuid=B, name='b', parent_uuid=A)
    below = provider.Provider(uuid=C, name='c', parent_uuid=B)
    wanted = {A: root, B: new, C: below}
    left, taken = contended.without_contended({A: root}, wanted, {CREATED})
    assert left == {A: root}
    assert taken == (CREATED,)
    assert contended.without_contended(wanted, wanted, {CREATED}) == (
        wanted,
        (),
    )


def test_a_creation_that_something_moves_below_goes_on():
    moving = provider.Provider(uuid=C, name='c', parent_uuid=A)
    before = {A: one(), C: moving}
    new = provider.Provider(uuid=B, name='b', parent_uuid=A)
    moved = dataclasses.replace(moving, parent_uuid=B)
    wanted = {A: one(), B: new, C: moved}
    assert contended.without_contended(before, wanted, {CREATED}) == (
        wanted,
        (),
    )


@pytest.mark.parametrize(
    ('item', 'said'),
    [
        (AVX, 'trait HW_CPU_X86_AVX of a ('),
        (NO_AVX, 'adds it again'),
        (EIGHT, 'inventory VCPU of a ('),
        (CREATED, f'provider {B}'),
    ],
)
def test_the_line_names_the_item_and_what_is_done_to_it(item, said):
    found = contended.line(item, {A: one()})
    assert said in found
    assert 'contended' in found
    assert 'tried again once an hour' in found


def test_names_of_one_provider_with_one_cause_have_one_line():
    several = [AVX, dataclasses.replace(AVX, name='HW_CPU_X86_AVX2'), NO_AVX]
    told, other = contended.lines(several, {A: one()})
    assert told == (
        f'traits HW_CPU_X86_AVX, HW_CPU_X86_AVX2 of {one()} are contended: '
        'another writer undoes them each time this agent changes them; they '
        'are left as they are and tried again once an hour'
    )
    assert other == contended.line(NO_AVX, {A: one()})


# --- the other writer ---------------------------------------------------------

NOVA = frozenset({'OWNER_NOVA'})


@pytest.mark.parametrize(
    ('traits', 'ours', 'said'),
    [
        (
            NOVA,
            {},
            'nova-compute or another compute-agent reports this host: OWNER_',
        ),
        (NOVA, {(A, Kind.TRAIT): NOVA}, 'perhaps a nova-compute that also'),
        (frozenset(), {}, ''),
    ],
)
def test_the_line_says_who_it_may_be(traits, ours, said):
    child = provider.Provider(uuid=B, name='b', parent_uuid=A)
    providers = {A: one(traits=traits), B: child}
    item = dataclasses.replace(AVX, uuid=B)
    (found,) = contended.with_suspects([item], providers, ours, home={A, B})
    line = contended.line(found, providers)
    assert said in line
    assert ('let only one of the two decide' in line) is bool(said)


def test_of_an_absent_provider_nobody_is_suspected():
    found = contended.with_suspects([CREATED], {A: one()}, {}, home={A})
    assert found == (CREATED,)


def test_the_line_names_the_hosts_that_describe_a_pool_differently():
    pool = provider.Provider(uuid=B, name='b')
    providers = {A: one(), B: pool}
    item = dataclasses.replace(AVX, uuid=B)
    (found,) = contended.with_suspects([item], providers, {}, home={A})
    line = contended.line(found, providers)
    assert 'it is described differently by several hosts' in line
    assert 'make the drivers and files of these hosts agree on it' in line
