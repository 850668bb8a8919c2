# SPDX-License-Identifier: Apache-2.0
"""What is allocated stays, reserved; what would take its place waits."""

import dataclasses

import generated
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.ownership import in_use
from compute_agent.tree import provider
from compute_agent.tree.inventory import Inventory

law = settings(max_examples=examples(60), deadline=None)

CONSUMERS = ('c1', 'c2', 'c3', 'c4', 'c5')


@st.composite
def situations(draw):
    """Before, after, and the consumers of the providers at stake."""
    before, after = draw(generated.changes())
    consumers = st.frozensets(st.sampled_from(CONSUMERS), min_size=1)
    used = {
        one.uuid: draw(
            st.dictionaries(
                st.sampled_from(sorted(one.inventories)), consumers
            )
        )
        for one in in_use.at_stake(before, after)
    }
    return before, after, used


def stuck(after, used):
    """The classes in use that were to go, by provider."""
    found = {
        uuid: set(classes) - set(after[uuid].inventories)
        if uuid in after
        else set(classes)
        for uuid, classes in used.items()
    }
    return {uuid: classes for uuid, classes in found.items() if classes}


def place(one):
    return one.name, one.parent_uuid


# --- laws --------------------------------------------------------------------


@law
@given(situations())
def test_nothing_that_is_allocated_is_missing_or_still_offered(situation):
    before, after, used = situation
    settled, _ = in_use.keep_used(*situation)
    for uuid, classes in used.items():
        for rc in classes:
            assert rc in settled[uuid].inventories
    for uuid, classes in stuck(after, used).items():
        for rc in classes:
            record = settled[uuid].inventories[rc]
            assert record == before[uuid].inventories[rc].fully_reserved()


@law
@given(situations())
def test_what_stays_is_allocated_or_above_what_is_there(situation):
    before, after, used = situation
    settled, _ = in_use.keep_used(*situation)
    parents = {one.parent_uuid for one in settled.values()}
    for uuid in set(settled) - set(after):
        one = settled[uuid]
        assert used.get(uuid) or uuid in parents
        assert one == dataclasses.replace(
            before[uuid],
            inventories={
                rc: record.fully_reserved()
                for rc, record in before[uuid].inventories.items()
            },
        )


@law
@given(situations())
def test_only_a_creation_waits_and_only_for_a_name_or_a_parent(situation):
    before, after, _ = situation
    settled, _ = in_use.keep_used(*situation)
    waiting = set(after) - set(settled)
    names = {one.name for one in settled.values()}
    as_wanted = {
        uuid
        for uuid, one in settled.items()
        if uuid in after and place(one) == place(after[uuid])
    }
    assert not waiting & set(before)
    for uuid in waiting:
        one = after[uuid]
        above = one.parent_uuid
        assert one.name in names or (above and above not in as_wanted)


@law
@given(situations())
def test_every_name_is_there_once_and_below_what_is_there(situation):
    settled, _ = in_use.keep_used(*situation)
    names = [one.name for one in settled.values()]
    assert len(names) == len(set(names))
    above = {None}
    for uuid, one in settled.items():
        assert one.uuid == uuid
        assert one.parent_uuid in above
        above.add(uuid)


@law
@given(situations())
def test_what_remains_is_as_it_should_be_or_less_where_a_class_is_stuck(
    situation,
):
    before, after, used = situation
    settled, _ = in_use.keep_used(*situation)
    held_up = stuck(after, used)
    for uuid in set(after) & set(settled):
        one, wanted = settled[uuid], after[uuid]
        assert one.traits == wanted.traits
        assert one.aggregates == wanted.aggregates
        assert place(one) in {place(wanted), place(before.get(uuid, wanted))}
        if uuid not in held_up:
            assert one.inventories == wanted.inventories
            continue
        old = before[uuid].inventories
        both = set(old) & set(wanted.inventories)
        assert set(one.inventories) == held_up[uuid] | both
        for rc in both:
            capacity = one.inventories[rc].capacity
            assert capacity <= old[rc].capacity
            assert capacity <= wanted.inventories[rc].capacity


@law
@given(situations())
def test_the_next_cycle_wants_no_more(situation):
    _, after, used = situation
    first, faults = in_use.keep_used(*situation)
    stake = {one.uuid for one in in_use.at_stake(first, after)}
    assert set(stuck(after, used)) <= stake
    left = {uuid: used.get(uuid, {}) for uuid in stake}
    second, again = in_use.keep_used(first, after, left)
    assert second == first
    assert bool(again) == bool(faults)


@law
@given(situations())
def test_a_fault_is_said_of_each_that_is_stuck_and_only_then(situation):
    before, after, used = situation
    _, faults = in_use.keep_used(*situation)
    held_up = stuck(after, used)
    assert bool(faults) == bool(held_up)
    for uuid in held_up:
        assert any(f.startswith(f'{before[uuid]}: ') for f in faults)


@law
@given(generated.changes())
def test_at_stake_is_what_loses_a_class_and_without_a_consumer_it_does(
    change,
):
    before, after = change
    lost = {
        uuid
        for uuid, one in before.items()
        for rc in one.inventories
        if uuid not in after or rc not in after[uuid].inventories
    }
    stake = [one.uuid for one in in_use.at_stake(before, after)]
    assert stake == [uuid for uuid in before if uuid in lost]
    for used in ({}, {uuid: {} for uuid in stake}):
        assert in_use.keep_used(before, after, used) == (after, [])


# --- cases -------------------------------------------------------------------


def one(uuid, name=None, parent=None, traits=(), **totals):
    return provider.Provider(
        uuid=uuid,
        name=name or uuid,
        parent_uuid=parent,
        inventories={rc: Inventory(total=t) for rc, t in totals.items()},
        traits=frozenset(traits),
    )


def settled(before, after, used):
    found, faults = in_use.keep_used(
        provider.snapshot(before),
        provider.snapshot(after),
        {
            uuid: {rc: frozenset(some.split()) for rc, some in classes.items()}
            for uuid, classes in used.items()
        },
    )
    return found, faults


def reserved(found):
    return {
        uuid: {rc: (i.reserved, i.total) for rc, i in p.inventories.items()}
        for uuid, p in found.items()
    }


def test_a_class_in_use_stays_reserved_and_the_new_one_waits():
    found, faults = settled(
        [one('n', OLD=1, VCPU=4)],
        [one('n', traits=['T'], NEW=1, VCPU=8)],
        {'n': {'OLD': 'c1', 'VCPU': 'c2'}},
    )
    assert reserved(found) == {'n': {'OLD': (1, 1), 'VCPU': (0, 4)}}
    assert found['n'].traits == {'T'}
    (fault,) = faults
    assert fault == (
        'n: OLD is not removed but to be reserved, because it is allocated to '
        'c1; NEW is added when these allocations are gone'
    )


def test_a_class_that_nobody_uses_goes_from_a_provider_in_use():
    after = [one('n', VCPU=8)]
    found, faults = settled(
        [one('n', OLD=1, VCPU=4)], after, {'n': {'VCPU': 'c1'}}
    )
    assert (found, faults) == ({'n': after[0]}, [])


def test_a_class_that_shrinks_beside_one_in_use_shrinks():
    found, faults = settled(
        [one('n', OLD=1, VCPU=8)], [one('n', VCPU=2)], {'n': {'OLD': 'c1'}}
    )
    assert reserved(found) == {'n': {'OLD': (1, 1), 'VCPU': (0, 2)}}
    assert faults[0].endswith('allocated to c1')


def test_a_provider_in_use_stays_reserved_and_so_does_what_is_above_it():
    before = [one('n', VCPU=4), one('c', parent='n', VGPU=2, SRIOV=8)]
    found, faults = settled(before, [], {'c': {'VGPU': 'c1'}, 'n': {}})
    assert reserved(found) == {
        'n': {'VCPU': (4, 4)},
        'c': {'VGPU': (2, 2), 'SRIOV': (8, 8)},
    }
    assert faults == [
        'c: it is not removed but to be reserved, because it is allocated to c1'
    ]


def test_what_is_below_a_provider_in_use_goes():
    before = [one('n', VCPU=4), one('c', parent='n', VGPU=2)]
    found, _ = settled(before, [], {'n': {'VCPU': 'c1'}, 'c': {}})
    assert reserved(found) == {'n': {'VCPU': (4, 4)}}


def test_three_consumers_are_named_and_the_others_counted():
    _, (fault,) = settled(
        [one('n', A=4, B=4)],
        [],
        {'n': {'A': 'c3 c1 c5', 'B': 'c2 c4 c1'}},
    )
    assert fault.endswith('allocated to c1, c2, c3 and 2 more')


def test_only_those_who_use_what_should_go_are_named():
    _, (fault,) = settled(
        [one('n', A=4, B=4)], [one('n', B=4)], {'n': {'A': 'c1', 'B': 'c2'}}
    )
    assert fault.endswith('allocated to c1')


def test_faults_come_in_the_order_of_the_providers():
    uuids = [f'u{n}' for n in range(20)]
    _, faults = settled(
        [one(uuid, A=1) for uuid in uuids],
        [one(uuid) for uuid in uuids],
        {uuid: {'A': 'c'} for uuid in uuids},
    )
    assert [fault.partition(':')[0] for fault in faults] == uuids


def test_a_name_that_is_held_up_is_said_with_its_holder():
    found, faults = settled(
        [one('old', 'rack', VCPU=4)],
        [one('new', 'rack', VCPU=4)],
        {'old': {'VCPU': 'c1'}},
    )
    assert reserved(found) == {'old': {'VCPU': (4, 4)}}
    fault, waiting = faults
    assert fault.startswith('rack (old): it is not removed but to be reserved')
    assert waiting == (
        'rack (new): not created, because rack (old) has that name and stays'
    )


def test_a_provider_that_keeps_its_old_name_is_new_inside():
    """Even where a provider below it has to stay where it was."""
    before = [one('k', VCPU=4), one('n', VCPU=4), one('c', 'c', 'n')]
    after = [one('n', 'k', traits=['T'], VCPU=1), one('c', 'd', 'n')]
    found, _ = settled(before, after, {'k': {'VCPU': 'c1'}})
    assert (found['n'].name, found['c'].name) == ('n', 'c')
    assert found['n'].traits == {'T'}
    assert reserved(found)['n'] == {'VCPU': (0, 1)}
