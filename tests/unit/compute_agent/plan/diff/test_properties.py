# SPDX-License-Identifier: Apache-2.0
"""Laws of every plan, whatever is to become of whatever forest."""

import generated
from examples import examples
from hypothesis import given, settings

from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops

law = settings(max_examples=examples(60), deadline=None)
first_law = settings(max_examples=examples(200), deadline=None)


def walked(change):
    """Yield each operation with the snapshots before and after it."""
    before, after = change
    for operation in diff.operations(before, after):
        then = operation.apply_to(before)
        yield operation, before, then
        before = then


def planned(change, *kinds):
    return [op for op in diff.operations(*change) if isinstance(op, kinds)]


def takes_more(one, other):
    """Whether some request may fit the one record and not the other."""
    return other is None or (
        one.capacity > other.capacity
        or one.max_unit > other.max_unit
        or one.min_unit < other.min_unit
        or one.step_size % other.step_size != 0
    )


def same_name(before, uuid, one):
    return uuid in before and before[uuid].name == one.name


def ancestry(providers, uuid):
    """The provider and all above it."""
    found = []
    while uuid is not None:
        found.append(uuid)
        uuid = providers[uuid].parent_uuid
    return found


@first_law
@given(generated.changes())
def test_a_plan_carried_out_gives_what_was_wanted(change):
    before, after = change
    assert ops.simulate(diff.operations(before, after), before) == after


@law
@given(generated.forests())
def test_nothing_is_planned_where_nothing_is_to_change(same):
    assert diff.operations(same, same) == ()


@law
@given(generated.changes())
def test_a_plan_carried_out_leaves_nothing_to_plan(change):
    before, after = change
    reached = ops.simulate(diff.operations(before, after), before)
    assert diff.operations(reached, after) == ()


@law
@given(generated.changes())
def test_no_operation_repeats_what_is_there(change):
    for operation, now, then in walked(change):
        assert now != then, operation


@law
@given(generated.changes())
def test_operations_say_what_is_there_when_their_turn_comes(change):
    for operation, now, _ in walked(change):
        match operation:
            case ops.SetInventories(uuid=uuid, before=before):
                assert before == now[uuid].inventories
            case ops.SetTraits(uuid=uuid, before=before):
                assert before == now[uuid].traits
            case ops.SetAggregates(uuid=uuid, before=before):
                assert before == now[uuid].aggregates
            case ops.UpdateProvider(uuid=uuid):
                old = (operation.old_name, operation.old_parent_uuid)
                assert old == (now[uuid].name, now[uuid].parent_uuid)
                continue
            case ops.CreateProvider():
                continue
        assert operation.name == now[operation.uuid].name


@law
@given(generated.changes())
def test_no_capacity_grows_or_appears_before_its_labels_are_right(change):
    _, after = change
    for operation, now, then in walked(change):
        if isinstance(operation, ops.SetInventories):
            one, wanted = now[operation.uuid], after[operation.uuid]
            if any(
                takes_more(record, one.inventories.get(rc))
                for rc, record in then[operation.uuid].inventories.items()
            ):
                assert one.traits == wanted.traits
                assert one.aggregates == wanted.aggregates


@law
@given(generated.changes())
def test_what_shrinks_or_goes_does_so_before_the_labels_change(change):
    _, after = change
    for operation, now, _ in walked(change):
        if isinstance(operation, ops.SetTraits | ops.SetAggregates):
            wanted = after[operation.uuid].inventories
            for rc, record in now[operation.uuid].inventories.items():
                assert not takes_more(record, wanted.get(rc))


@law
@given(generated.changes())
def test_a_part_is_written_once_and_inventory_twice_only_around_labels(
    change,
):
    labels = planned(change, ops.SetTraits, ops.SetAggregates)
    parts = [(op.uuid, op.kind) for op in labels]
    assert len(parts) == len(set(parts))
    puts = [op.uuid for op in planned(change, ops.SetInventories)]
    for uuid in set(puts):
        labelled = uuid in {op.uuid for op in labels}
        assert puts.count(uuid) <= (2 if labelled else 1)


@law
@given(generated.changes())
def test_the_shape_stands_before_any_content_is_written(change):
    shaped = (ops.CreateProvider, ops.UpdateProvider)
    content = (ops.SetInventories, ops.SetTraits, ops.SetAggregates)
    seen = [
        isinstance(op, content) for op in planned(change, *shaped, *content)
    ]
    assert seen == sorted(seen)


@law
@given(generated.changes())
def test_deletions_come_last_unless_they_free_a_name_that_is_needed(change):
    before, after = change
    needed = {p.name for u, p in after.items() if not same_name(before, u, p)}
    others = 0
    for operation in reversed(diff.operations(before, after)):
        if not isinstance(operation, ops.DeleteProvider):
            others += 1
        elif others:
            freed = {
                before[uuid].name
                for uuid in ancestry(before, operation.uuid)
                if uuid not in after
            }
            assert freed & needed


@law
@given(generated.changes())
def test_nothing_is_done_to_a_provider_that_goes_but_to_clear_its_name(
    change,
):
    before, after = change
    for operation, _, _ in walked(change):
        if operation.uuid not in after:
            assert isinstance(
                operation, ops.DeleteProvider | ops.UpdateProvider
            )
            assert operation.uuid in before


@law
@given(generated.changes())
def test_a_rename_out_of_the_way_is_made_only_where_one_is_needed(change):
    before, after = change
    wanted = {p.name for p in after.values()}
    for operation, now, _ in walked(change):
        if (
            isinstance(operation, ops.UpdateProvider)
            and operation.name != operation.old_name
            and operation.name not in wanted
        ):
            assert now[operation.uuid].name in wanted
            assert before[operation.uuid].name in wanted
