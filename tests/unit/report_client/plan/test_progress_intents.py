# SPDX-License-Identifier: Apache-2.0
"""Which generations a plan leads to, as it is written down beforehand.

That placement does as is said here is seen where plans are cut off
(``tests/functional``).
"""

from compute_agent.plan import allocations as alloc
from compute_agent.plan import intents
from compute_agent.plan.operations import operations as ops
from compute_agent.tree import assertion, inventory, provider
from report_client.plan import progress

RECORD = inventory.Inventory(total=2)
INVENTORY = assertion.Kind.INVENTORY


def planned(*operations):
    before = provider.snapshot(
        [
            provider.Provider(
                uuid='root',
                name='root',
                generation=5,
                inventories={'VGPU': RECORD},
            ),
            provider.Provider(
                uuid='numa',
                name='numa',
                parent_uuid='root',
                generation=8,
                inventories={'VCPU': RECORD},
            ),
        ]
    )
    intents = progress.expected_intents('root', operations, before)
    return [sent for _, sent in intents]


def set_inventories(uuid, *classes):
    return ops.SetInventories(
        uuid=uuid,
        name=uuid,
        inventories=dict.fromkeys(classes, RECORD),
        before={},
    )


def reshape(*inventories, **after):
    return ops.Reshape(
        uuid='root',
        name='root',
        inventories=inventories,
        moves=(
            alloc.Move(
                consumer=alloc.Consumer(
                    uuid='c1',
                    project_id='p',
                    user_id='u',
                    generation=1,
                    allocations={'root': {'VGPU': 1}},
                ),
                allocations=after,
            ),
        ),
    )


TRAITS = ops.SetTraits(
    uuid='numa', name='numa', names=frozenset({'A'}), before=frozenset()
)


def intent(uuid, generation, *names, kind=INVENTORY, added=None):
    names = frozenset(names)
    return intents.Intent(
        node_uuid='root',
        uuid=uuid,
        kind=kind,
        generation=generation,
        names=names,
        added=names if added is None else frozenset(added),
    )


def test_each_write_moves_its_provider_one_on():
    child = ops.CreateProvider(uuid='child', name='child', parent_uuid='root')
    assert planned(child, set_inventories('child', 'VGPU'), TRAITS) == [
        (intent('child', 0, kind=None),),
        (intent('child', 1, 'VGPU'),),
        (intent('numa', 9, 'A', kind=assertion.Kind.TRAIT),),
    ]


def test_what_moves_no_generation_intends_nothing():
    rename = ops.UpdateProvider(
        uuid='numa',
        name='other',
        parent_uuid='root',
        old_name='numa',
        old_parent_uuid='root',
    )
    delete = ops.DeleteProvider(uuid='numa', name='other')
    trait = ops.CreateTrait(name='CUSTOM_A')
    assert planned(trait, rename, delete) == [(), (), ()]


def test_a_reshape_moves_what_is_emptied_by_one_and_what_is_filled_by_three():
    (sent,) = planned(
        reshape(
            set_inventories('root'),
            set_inventories('numa', 'VGPU'),
            numa={'VGPU': 1},
        )
    )
    assert sent == (intent('root', 6), intent('numa', 11, 'VGPU'))


def test_what_keeps_some_inventory_but_no_allocation_moves_by_two():
    (sent,) = planned(
        reshape(set_inventories('root', 'VCPU'), far={'VGPU': 1})
    )
    assert sent == (intent('root', 7, 'VCPU'),)


def test_what_is_only_allocated_moves_by_one_if_it_was_written_before():
    operation = reshape(
        set_inventories('root'), numa={'VCPU': 1}, far={'VGPU': 1}
    )
    _, sent = planned(TRAITS, operation)
    assert sent == (
        intent('root', 6),
        intent('numa', 10, 'VCPU', added=()),
    )
    (sent,) = planned(operation)
    assert sent == (intent('root', 6),)
