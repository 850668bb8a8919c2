# SPDX-License-Identifier: Apache-2.0
"""Laws of plans that move what is allocated, whatever moves wherever.

A small model of placement stands beside ``apply_to``: it refuses to remove
what is allocated, and to allocate what is not there.
"""

import generated
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.plan import allocations as alloc
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops

law = settings(max_examples=examples(50), deadline=None)


@st.composite
def parts(draw, providers):
    """What one consumer may have of these providers."""
    offers = [(u, rc) for u, p in providers.items() for rc in p.inventories]
    if not offers:
        return {}
    found = {}
    for uuid, rc in draw(st.sets(st.sampled_from(offers), max_size=3)):
        found.setdefault(uuid, {})[rc] = draw(st.sampled_from((1, 2)))
    return found


@st.composite
def reshapes(draw):
    """A change, and consumers that have something before and after it."""
    before, after = draw(generated.changes())
    moves = tuple(
        alloc.Move(
            consumer=alloc.Consumer(
                uuid=f'c{number}',
                project_id='p',
                user_id='u',
                generation=number,
                allocations=draw(parts(before)),
            ),
            allocations=draw(parts(after)),
        )
        for number in range(draw(st.integers(0, 3)))
    )
    return before, after, moves


class Placement:
    """What placement would say: its providers, and what is allocated."""

    def __init__(self, before, moves):
        self.providers = before
        self.allocated = {
            m.consumer.uuid: m.consumer.allocations for m in moves
        }

    def take(self, operation):
        if isinstance(operation, ops.Reshape):
            for move in operation.moves:
                self.allocated[move.consumer.uuid] = move.allocations
        self.providers = operation.apply_to(self.providers)
        for some in self.allocated.values():
            for uuid, resources in some.items():
                assert uuid in self.providers, operation
                there = set(self.providers[uuid].inventories)
                assert set(resources) <= there, operation


def planned(change):
    before, after, moves = change
    return diff.operations(before, after, moves=moves)


def moving(change):
    return [move for move in change[2] if any(move.changes())]


@law
@given(reshapes())
def test_a_plan_carried_out_gives_what_was_wanted(change):
    before, after, _ = change
    assert ops.simulate(planned(change), before) == after


@law
@given(reshapes())
def test_nothing_that_is_allocated_is_ever_removed(change):
    before, _, moves = change
    placement = Placement(before, moves)
    for operation in planned(change):
        placement.take(operation)
    wanted = {move.consumer.uuid: move.allocations for move in moves}
    assert placement.allocated == wanted


@law
@given(reshapes())
def test_one_reshape_moves_all_that_moves_and_nothing_else(change):
    found = [op for op in planned(change) if isinstance(op, ops.Reshape)]
    assert len(found) == bool(moving(change))
    for operation in found:
        assert list(operation.moves) == moving(change)
        gives, takes = alloc.providers(operation.moves)
        inventories = {one.uuid for one in operation.inventories}
        assert inventories
        assert inventories <= gives | takes


@law
@given(reshapes())
def test_an_inventory_is_sent_that_changes_or_else_all_of_those_concerned(
    change,
):
    for operation in planned(change):
        if isinstance(operation, ops.Reshape):
            same = [
                one.inventories == one.before for one in operation.inventories
            ]
            assert all(same) or not any(same)


@law
@given(reshapes())
def test_no_capacity_comes_before_its_provider_s_labels(change):
    before, after, _ = change
    for operation in planned(change):
        then = operation.apply_to(before)
        written = []
        if isinstance(operation, ops.SetInventories):
            written = [operation]
        elif isinstance(operation, ops.Reshape):
            written = operation.inventories
        for one in written:
            if any(
                takes_more(record, one.before.get(rc))
                for rc, record in one.inventories.items()
            ):
                labelled, wanted = before[one.uuid], after[one.uuid]
                assert labelled.traits == wanted.traits
                assert labelled.aggregates == wanted.aggregates
        before = then


@law
@given(reshapes())
def test_writes_say_what_is_there_when_their_turn_comes(change):
    before = change[0]
    for operation in planned(change):
        written = []
        if isinstance(operation, ops.SetInventories):
            written = [operation]
        elif isinstance(operation, ops.Reshape):
            written = operation.inventories
        for one in written:
            assert one.before == before[one.uuid].inventories
        before = operation.apply_to(before)


def takes_more(one, other):
    return other is None or one.capacity > other.capacity
