# SPDX-License-Identifier: Apache-2.0
"""Operations on a snapshot do what placement does, or refuse as it refuses."""

import pytest

from compute_agent.plan.operations import operations as ops
from compute_agent.tree import inventory, provider
from compute_agent.tree.assertion import Kind

VCPU = inventory.Inventory(total=8)
MORE = inventory.Inventory(total=9)


def one(uuid, parent=None, **more):
    return provider.Provider(
        uuid=uuid,
        name=more.pop('name', f'name-{uuid}'),
        parent_uuid=parent,
        **more,
    )


# root > (numa > gpu), and other
SEEN = provider.snapshot(
    [
        one('root', generation=4),
        one('numa', 'root'),
        one('gpu', 'numa', traits=frozenset('A'), inventories={'VGPU': VCPU}),
        one('other'),
    ]
)


def create(uuid='new', name='new', parent='root'):
    return ops.CreateProvider(uuid=uuid, name=name, parent_uuid=parent)


def update(uuid, name=None, parent='same'):
    old = SEEN.get(uuid) or one(uuid)
    return ops.UpdateProvider(
        uuid=uuid,
        name=name or old.name,
        parent_uuid=old.parent_uuid if parent == 'same' else parent,
        old_name=old.name,
        old_parent_uuid=old.parent_uuid,
    )


def set_names(kind, uuid, names='', before='', foreign=''):
    return kind(
        uuid=uuid,
        name=f'name-{uuid}',
        names=frozenset(names),
        before=frozenset(before),
        foreign=frozenset(foreign),
    )


def set_inventories(uuid, inventories, before=None):
    return ops.SetInventories(
        uuid=uuid,
        name=f'name-{uuid}',
        inventories=inventories,
        before=before or {},
    )


def delete(uuid):
    return ops.DeleteProvider(uuid=uuid, name=f'name-{uuid}')


def changed(after):
    """Return what is different from SEEN, None for what is gone."""
    return {
        uuid: after.get(uuid)
        for uuid in {*SEEN, *after}
        if SEEN.get(uuid) != after.get(uuid)
    }


@pytest.mark.parametrize(
    'create_name', [ops.CreateTrait, ops.CreateResourceClass]
)
def test_creating_a_name_changes_no_provider(create_name):
    assert create_name(name='CUSTOM_A').apply_to(SEEN) == SEEN


def test_a_new_provider_is_empty():
    after = create().apply_to(SEEN)
    new = provider.Provider(uuid='new', name='new', parent_uuid='root')
    assert changed(after) == {'new': new}
    assert after['new'].generation is None


def test_a_new_provider_may_be_a_root():
    after = create(parent=None).apply_to({})
    assert list(after) == ['new']


def test_a_provider_is_renamed_with_all_it_has():
    after = update('gpu', name='better').apply_to(SEEN)
    assert changed(after) == {
        'gpu': one(
            'gpu',
            'numa',
            name='better',
            traits=frozenset('A'),
            inventories={'VGPU': VCPU},
        )
    }


def test_a_provider_moves_with_all_below_it():
    after = update('numa', parent='other').apply_to(SEEN)
    assert changed(after) == {'numa': one('numa', 'other')}
    assert list(after) == ['root', 'other', 'numa', 'gpu']


def test_a_provider_moves_to_the_top():
    after = update('numa', parent=None).apply_to(SEEN)
    assert changed(after) == {'numa': one('numa')}


def test_a_leaf_is_deleted_whatever_it_holds():
    assert changed(delete('gpu').apply_to(SEEN)) == {'gpu': None}


def test_traits_are_replaced():
    after = set_names(ops.SetTraits, 'gpu', 'BC', 'A').apply_to(SEEN)
    assert after['gpu'].traits == {'B', 'C'}
    assert set(changed(after)) == {'gpu'}


def test_aggregates_are_replaced():
    after = set_names(ops.SetAggregates, 'gpu', 'g').apply_to(SEEN)
    assert after['gpu'].aggregates == {'g'}
    assert after['gpu'].traits == {'A'}


def test_inventories_are_replaced():
    after = set_inventories('gpu', {'PGPU': MORE}).apply_to(SEEN)
    assert after['gpu'].inventories == {'PGPU': MORE}
    assert after['gpu'].traits == {'A'}


@pytest.mark.parametrize(
    'operation',
    [
        create(),
        update('gpu', name='better'),
        update('numa', parent='other'),
        delete('gpu'),
        set_names(ops.SetTraits, 'gpu', 'B'),
        set_names(ops.SetAggregates, 'gpu', 'g'),
        set_inventories('gpu', {}),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_the_snapshot_given_stays_as_it_was(operation):
    given = dict(SEEN)
    operation.apply_to(given)
    assert given == SEEN


IMPOSSIBLE = {
    'a uuid that exists': (create(uuid='gpu'), 'gpu exists'),
    'a name that is taken': (
        create(name='name-gpu'),
        'the name name-gpu is taken',
    ),
    'a parent that is not there': (
        create(parent='nobody'),
        'the parent nobody does not exist',
    ),
    'renaming nobody': (update('nobody', name='x'), 'nobody does not exist'),
    'renaming into a taken name': (
        update('gpu', name='name-root'),
        'the name name-root is taken',
    ),
    'moving below nobody': (
        update('gpu', parent='nobody'),
        'the parent nobody does not exist',
    ),
    'moving below itself': (
        update('numa', parent='numa'),
        r'name-numa \(numa\) would be below itself',
    ),
    'moving below its own child': (
        update('root', parent='gpu'),
        r'name-root \(root\) would be below itself',
    ),
    'deleting nobody': (delete('nobody'), 'nobody does not exist'),
    'deleting a parent': (delete('numa'), 'name-numa has children'),
    'traits of nobody': (
        set_names(ops.SetTraits, 'nobody', 'A'),
        'nobody does not exist',
    ),
    'aggregates of nobody': (
        set_names(ops.SetAggregates, 'nobody', 'A'),
        'nobody does not exist',
    ),
    'inventories of nobody': (
        set_inventories('nobody', {}),
        'nobody does not exist',
    ),
}


@pytest.mark.parametrize(
    ('operation', 'reason'), IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys()
)
def test_what_placement_would_refuse_is_impossible(operation, reason):
    with pytest.raises(ops.Impossible, match=f'^{reason}$'):
        operation.apply_to(SEEN)


def test_a_name_may_be_kept_while_moving():
    after = update('gpu', parent='root').apply_to(SEEN)
    assert after['gpu'].name == 'name-gpu'


def test_operations_are_simulated_one_upon_the_other():
    after = ops.simulate(
        [
            create('new', 'new', 'other'),
            update('gpu', parent='new'),
            delete('numa'),
            set_names(ops.SetTraits, 'new', 'B'),
        ],
        SEEN,
    )
    assert list(after) == ['root', 'other', 'new', 'gpu']
    assert after['new'].traits == {'B'}


def test_a_simulation_ends_where_placement_would():
    with pytest.raises(ops.Impossible, match='has children'):
        ops.simulate([delete('numa'), delete('gpu')], SEEN)


def test_no_operations_are_no_change():
    assert ops.simulate([], SEEN) == SEEN


@pytest.mark.parametrize('kind', [ops.SetTraits, ops.SetAggregates])
def test_names_that_are_set_say_what_comes_and_what_goes(kind):
    operation = set_names(kind, 'gpu', 'ABC', 'BCD', 'D')
    assert operation.added == {'A'}
    assert operation.removed == {'D'}


def test_inventories_that_are_set_say_what_comes_changes_and_goes():
    operation = set_inventories(
        'gpu',
        {'NEW': VCPU, 'SAME': VCPU, 'MORE': MORE},
        {'SAME': VCPU, 'MORE': VCPU, 'OLD': VCPU},
    )
    assert operation.names == {'NEW', 'SAME', 'MORE'}
    assert operation.added == {'NEW'}
    assert operation.changed == {'MORE'}
    assert operation.removed == {'OLD'}


def test_a_ratio_that_only_a_database_rounded_has_not_changed():
    operation = set_inventories(
        'gpu',
        {'VCPU': inventory.Inventory(total=8, allocation_ratio=1.3)},
        {'VCPU': inventory.Inventory(total=8, allocation_ratio=1.2999999)},
    )
    assert operation.changed == frozenset()


def test_each_of_them_knows_its_kind():
    assert ops.SetTraits.kind is Kind.TRAIT
    assert ops.SetAggregates.kind is Kind.AGGREGATE
    assert ops.SetInventories.kind is Kind.INVENTORY


def test_the_names_that_are_created_are_told_by_kind():
    created = ops.created_names(
        iter(
            [
                ops.CreateTrait(name='CUSTOM_A'),
                ops.CreateResourceClass(name='CUSTOM_GOLD'),
                create(),
                ops.CreateTrait(name='CUSTOM_B'),
            ]
        )
    )
    assert created.traits == {'CUSTOM_A', 'CUSTOM_B'}
    assert created.resource_classes == {'CUSTOM_GOLD'}


def test_an_operation_does_not_change():
    with pytest.raises(AttributeError):
        create().name = 'other'
