# SPDX-License-Identifier: Apache-2.0
"""What operations change, item by item, and what they remove."""

import dataclasses

from compute_agent.limits import contention, effects
from compute_agent.plan import allocations
from compute_agent.plan import plan as plans
from compute_agent.plan.diff import diff as planning
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, provider

A = '11111111-1111-4111-8111-111111111111'
B = '22222222-2222-4222-8222-222222222222'
C = '33333333-3333-4333-8333-333333333333'
Kind = assertion.Kind


def vcpus(total, **more):
    return {'VCPU': inventory.Inventory(total=total, **more)}


def one(uuid=A, **what):
    what = {
        key: frozenset(value) if key != 'inventories' else value
        for key, value in what.items()
    }
    return provider.Provider(uuid=uuid, name=f'name of {uuid[0]}', **what)


def between(before, after):
    """Return what is planned from one provider to another."""
    return planning.operations(
        provider.snapshot(before), provider.snapshot(after)
    )


def item(kind, name, *, there=True, record=None):
    return contention.Item(
        uuid=A, kind=kind, name=name, there=there, record=record
    )


def test_each_name_added_or_removed_is_an_item():
    operations = between(
        [one(traits={'HW_GPU'}, aggregates={B}, inventories=vcpus(4))],
        [one(traits={'CUSTOM_A'}, inventories=vcpus(8))],
    )
    assert effects.items(operations) == {
        item(Kind.TRAIT, 'HW_GPU', there=False),
        item(Kind.TRAIT, 'CUSTOM_A'),
        item(Kind.AGGREGATE, B, there=False),
        item(Kind.INVENTORY, 'VCPU', record=vcpus(8)['VCPU']),
    }


def test_a_provider_that_comes_or_goes_is_one_too():
    created = contention.Item(uuid=B, kind=None)
    gone = dataclasses.replace(created, there=False)
    assert effects.items(between([], [one(B)])) == {created}
    assert effects.items(between([one(B)], [])) == {gone}


def test_names_created_and_providers_renamed_are_none():
    renamed = dataclasses.replace(one(), name='other')
    operations = (
        ops.CreateTrait(name='CUSTOM_A'),
        ops.CreateResourceClass(name='CUSTOM_B'),
        *between([one()], [renamed]),
    )
    assert effects.items(operations) == set()
    assert not effects.removals(operations)


def test_the_last_of_two_writes_is_what_becomes_of_a_class():
    """One that shrinks and one that grows: the class is set twice."""
    before = {**vcpus(8), 'DISK_GB': inventory.Inventory(total=9)}
    after = {**vcpus(4), 'MEMORY_MB': inventory.Inventory(total=9)}
    operations = between(
        [one(inventories=before)],
        [one(inventories=after, traits={'HW_GPU'})],
    )
    assert len(operations) == 3
    (vcpu,) = [i for i in effects.items(operations) if i.name == 'VCPU']
    assert vcpu.record == after['VCPU']
    assert effects.removals(operations).names == set()


def test_what_goes_of_each_kind_is_removed():
    found = effects.removals(
        between(
            [one(traits={'HW_GPU'}, aggregates={B}, inventories=vcpus(4))],
            [one(traits={'CUSTOM_A'})],
        )
    )
    assert found.names == {
        (A, Kind.TRAIT, 'HW_GPU'),
        (A, Kind.AGGREGATE, B),
    }
    assert found.deleted == frozenset()


def plan(before, after, node=A):
    return plans.Plan(
        node_uuid=node,
        operations=tuple(between(before, after)),
        before=provider.snapshot(before),
    )


def below(**what):
    return dataclasses.replace(one(B, **what), parent_uuid=A)


def test_the_totals_of_a_class_that_changes_are_all_that_the_node_has():
    found = effects.totals(
        plan(
            [one(inventories=vcpus(4)), below(inventories=vcpus(8))],
            [one(inventories=vcpus(2)), below(inventories=vcpus(8))],
        )
    )
    assert found == {(A, 'VCPU'): (4, 2), (B, 'VCPU'): (8, 8)}


def test_what_is_reserved_is_no_change_of_a_total():
    found = effects.totals(
        plan(
            [one(inventories=vcpus(4))],
            [one(inventories=vcpus(4, reserved=4))],
        )
    )
    assert found == {}


def test_a_new_child_is_part_of_the_node():
    found = effects.totals(
        plan(
            [one(inventories=vcpus(64))], [one(), below(inventories=vcpus(8))]
        )
    )
    assert found == {(A, 'VCPU'): (64, 0), (B, 'VCPU'): (0, 8)}


def test_the_totals_of_a_deleted_provider_are_that_deletion():
    found = effects.totals(plan([one(), below(inventories=vcpus(8))], [one()]))
    assert found == {}


def test_what_a_deleted_provider_had_is_that_deletion():
    before = [one(), one(B, traits={'HW_GPU'}, inventories=vcpus(4))]
    found = effects.removals(between(before, [one()]))
    assert found.deleted == {B}
    assert found.names == frozenset()


def test_what_is_moved_aside_before_its_deletion_counts_once():
    sets = ops.SetTraits(
        uuid=B, name='b', names=frozenset(), before=frozenset({'HW_GPU'})
    )
    found = effects.removals([sets, ops.DeleteProvider(uuid=B, name='b')])
    assert found.deleted == {B}
    assert found.names == frozenset()


def test_the_classes_of_a_reshape_are_items():
    def sets(uuid, before, after):
        return ops.SetInventories(
            uuid=uuid, name=uuid, before=before, inventories=after
        )

    disk = {'DISK_GB': inventory.Inventory(total=9)}
    reshape = ops.Reshape(
        uuid=A,
        name='a',
        inventories=(
            sets(A, {**vcpus(4), **disk}, {}),
            sets(B, {}, vcpus(4)),
        ),
        moves=(
            allocations.Move(
                consumer=allocations.Consumer(
                    uuid=C,
                    project_id='p',
                    user_id='u',
                    generation=1,
                    allocations={A: {'VCPU': 2}},
                ),
                allocations={B: {'VCPU': 2}},
            ),
        ),
    )
    assert not effects.removals([reshape])
    record = vcpus(4)['VCPU']
    assert effects.items([reshape]) == {
        item(Kind.INVENTORY, 'VCPU', there=False),
        item(Kind.INVENTORY, 'DISK_GB', there=False),
        contention.Item(
            uuid=B, kind=Kind.INVENTORY, name='VCPU', record=record
        ),
    }
