# SPDX-License-Identifier: Apache-2.0
"""Items that another writer keeps undoing are left out for some cycles.

White-box: two tests look at the private memory, because its size and that it is
empty show nowhere else.
"""

import dataclasses

import pytest

from compute_agent.limits import contention
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


def fight(memory, cycles, item=AVX, undoing=lambda _cycle: True):
    """Let each change be undone; return the cycles that made it.

    :param undoing: whether the other writer acts after this cycle
    """
    made, there = [], False
    for cycle in range(1, cycles + 1):
        left = not there and item in memory.contended()
        applied = [item] if not there and not left else []
        end(memory, applied, [item] if left else [])
        made += [cycle] if applied else []
        there = (there or bool(applied)) and not undoing(cycle)
    return made


def test_three_times_undone_is_contended_and_tried_every_ten_cycles():
    assert fight(contention.Contention(), 50) == [1, 2, 3, 4, 15, 26, 37, 48]


def test_when_he_stops_the_next_trial_ends_it():
    memory = contention.Contention()
    made = fight(memory, 60, undoing=lambda cycle: cycle < 20)
    assert made == [1, 2, 3, 4, 15, 26]
    assert memory.contended() == frozenset()


def test_after_a_trial_that_held_three_more_are_needed():
    memory = contention.Contention()
    made = fight(
        memory, 60, undoing=lambda cycle: cycle < 10 or 30 <= cycle < 40
    )
    assert made[:5] == [1, 2, 3, 4, 15]
    assert made[5:9] == [31, 32, 33, 34]


def test_undone_seldom_is_no_contention():
    memory = contention.Contention()
    made = fight(memory, 60, undoing=lambda cycle: cycle % 5 == 0)
    assert made == [1, *range(6, 61, 5)]


def test_undone_every_third_cycle_is():
    memory = contention.Contention()
    made = fight(memory, 20, undoing=lambda cycle: cycle % 3 == 0)
    assert made[:4] == [1, 4, 7, 10]
    assert len(made) == 4


def test_our_own_to_and_fro_is_no_contention():
    memory = contention.Contention()
    for _ in range(20):
        end(memory, [AVX])
        end(memory, [NO_AVX])
    assert memory.contended() == frozenset()


def test_a_value_that_moves_each_time_is_no_contention():
    memory = contention.Contention()
    for total in range(1, 30):
        record = inventory.Inventory(total=total)
        end(memory, [dataclasses.replace(EIGHT, record=record)])
    assert memory.contended() == frozenset()


def test_a_provider_of_ours_that_comes_and_goes_is_no_contention():
    memory = contention.Contention()
    below = dataclasses.replace(AVX, uuid=B)
    gone = dataclasses.replace(CREATED, there=False)
    for _ in range(20):
        end(memory, [CREATED, below])
        end(memory, [gone])
    assert memory.contended() == frozenset()


def test_a_trial_that_is_not_needed_ends_it():
    memory = contention.Contention()
    assert fight(memory, 14) == [1, 2, 3, 4]
    end(memory, [])  # the other one did it himself
    assert fight(memory, 5) == [1, 2, 3, 4]


def test_memory_does_not_grow():
    memory = contention.Contention()
    for number in range(100):
        item = dataclasses.replace(AVX, name=f'CUSTOM_{number}')
        end(memory, [item])
    assert len(memory._last) <= contention.WITHIN
    assert memory._undone == {}


# --- several nodes, and cycles that tell nothing ------------------------------


def turn(node, *done, **what):
    return contention.NodeOutcome(node=node, done=frozenset(done), **what)


def test_two_nodes_that_differ_are_both_left_and_named():
    memory = contention.Contention()
    nine = dataclasses.replace(EIGHT, record=inventory.Inventory(total=9))
    for _ in range(4):
        memory.end_cycle([turn('one', EIGHT), turn('two', nine)])
    left = memory.contended()
    assert left == {EIGHT, nine}
    for item in left:
        line = contention.line(item, {A: one()})
        assert 'nodes one, two of this agent want different states' in line


def test_it_counts_whichever_node_of_two_makes_it_again():
    memory = contention.Contention()
    for node in ('one', 'two', 'one', 'three'):
        memory.end_cycle([turn(node, AVX)])
    assert memory.contended() == {AVX}
    (item,) = memory.contended()
    assert 'another writer undoes it' in contention.line(item, {A: one()})


def test_two_nodes_at_once_undo_nothing():
    memory = contention.Contention()
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
def contended():
    """A memory in which an item is due to be tried."""
    memory = contention.Contention()
    assert fight(memory, 14) == [1, 2, 3, 4]
    assert memory.contended() == frozenset()
    return memory


@pytest.mark.parametrize('what', UNKNOWN.values(), ids=UNKNOWN)
def test_a_trial_is_not_over_by_a_cycle_that_tells_nothing(contended, what):
    end(contended, [AVX])
    for _ in range(3):
        contended.end_cycle([turn('one', **what)])
        assert contended.contended() == {AVX}
    end(contended, [], [AVX])
    for _ in range(9):
        assert contended.contended() == {AVX}
        end(contended, [], [AVX])
    end(contended, [])
    assert contended.contended() == frozenset()


@pytest.mark.parametrize('what', UNKNOWN.values(), ids=UNKNOWN)
def test_a_trial_stays_due_until_it_can_be_made(contended, what):
    for _ in range(3):
        contended.end_cycle([turn('one', **what)])
    end(contended, [AVX])
    assert contended.contended() == {AVX}


def test_a_trial_made_again_at_once_was_undone(contended):
    """As it is where allocations move, and nothing can be left out."""
    end(contended, [AVX])
    contended.end_cycle([turn('two', AVX)])
    assert contended.contended() == {AVX}
    assert contended._until[AVX] > contended._cycle


def test_an_item_of_a_node_that_is_no_more_is_forgotten(contended):
    contended.end_cycle([turn('two', pending=None)])
    assert contended._until == contended._makers == {}


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
    left, taken = contention.without_contended({A: before}, {A: after}, {item})
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
    left, taken = contention.without_contended({A: before}, {A: after}, {item})
    assert left == {A: after}
    assert taken == ()


def test_what_is_new_or_gone_is_not_the_contended_change():
    after = one(traits=frozenset({AVX.name}))
    assert contention.without_contended({}, {A: after}, {AVX}) == (
        {A: after},
        (),
    )
    assert contention.without_contended({A: after}, {}, {NO_AVX}) == ({}, ())


def test_a_contended_creation_is_left_with_all_below_it():
    root = one()
    new = provider.Provider(uuid=B, name='b', parent_uuid=A)
    below = provider.Provider(uuid=C, name='c', parent_uuid=B)
    wanted = {A: root, B: new, C: below}
    left, taken = contention.without_contended({A: root}, wanted, {CREATED})
    assert left == {A: root}
    assert taken == (CREATED,)
    assert contention.without_contended(wanted, wanted, {CREATED}) == (
        wanted,
        (),
    )


def test_a_creation_that_something_moves_below_goes_on():
    moving = provider.Provider(uuid=C, name='c', parent_uuid=A)
    before = {A: one(), C: moving}
    new = provider.Provider(uuid=B, name='b', parent_uuid=A)
    moved = dataclasses.replace(moving, parent_uuid=B)
    wanted = {A: one(), B: new, C: moved}
    assert contention.without_contended(before, wanted, {CREATED}) == (
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
    found = contention.line(item, {A: one()})
    assert said in found
    assert 'contended' in found
    assert 'tried again after 10 cycles' in found
