# SPDX-License-Identifier: Apache-2.0
"""What another took away and a source still asserts: restored, and said."""

import dataclasses

import pytest

from compute_agent.limits import contention
from compute_agent.ownership import resolve
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import inventory, provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
AGG = '00000000-0000-0000-0000-0000000000a1'
WAS = provider.Provider(
    uuid=ROOT,
    name='root',
    traits=frozenset({'HW_A', 'HW_B'}),
    aggregates=frozenset({AGG}),
    inventories={
        'DISK_GB': inventory.Inventory(total=9),
        'VCPU': inventory.Inventory(total=8),
    },
)
HELD = {
    (ROOT, Kind.TRAIT): {'driver': frozenset({'HW_A'})},
    (ROOT, Kind.AGGREGATE): {'driver': frozenset({AGG})},
    (ROOT, Kind.INVENTORY): {'driver': frozenset({'VCPU'})},
}


def describe(tree, vcpu=8):
    tree.declare_traits(ROOT, 'HW_A')
    tree.declare_aggregates(ROOT, AGG)
    tree.update_inventory(ROOT, {'VCPU': {'total': vcpu}})


def notes(
    edit=describe,
    claims=HELD,
    was=WAS,
    contended=(),
    authors=resolve.notes.NO_AUTHORS,
    **now,
):
    """Return the notes where another left these contents."""
    one = dataclasses.replace(WAS, **now)
    tree = provider_tree.ProviderTree.from_providers([one])
    edit(tree)
    record = Record(claims=claims, was={ROOT: was} if was else {})
    policy = Policy(contended=contended)
    found = resolve.resolve(tree, ROOT, record, policy, authors).notes
    return [note.partition(': ')[2] for note in found if 'restored' in note]


@pytest.mark.parametrize(
    ('now', 'name'),
    [
        ({'traits': frozenset({'HW_B'})}, 'HW_A'),
        ({'aggregates': frozenset()}, AGG),
        ({'inventories': {}}, 'VCPU'),
    ],
)
def test_what_was_removed_by_another_is_restored_and_said(now, name):
    assert notes(**now) == [f'removed by another writer, and restored: {name}']


def test_an_amount_that_another_changed_is_restored_and_said():
    changed = {'VCPU': inventory.Inventory(total=4)}
    assert notes(inventories=changed) == [
        'changed by another writer, and restored: VCPU'
    ]


def test_each_author_has_a_line_of_its_own():
    def edit(tree):
        describe(tree)
        tree.declare_traits(ROOT, 'HW_A', 'HW_B')

    held = {**HELD, (ROOT, Kind.TRAIT): {'driver': WAS.traits}}
    found = notes(
        edit,
        held,
        authors={(ROOT, Kind.TRAIT, 'HW_A'): '{me}'},
        traits=frozenset(),
    )
    assert found == [
        'removed by another writer, and restored: HW_B',
        'removed by {me}, and restored: HW_A',
    ]


def test_an_amount_that_the_driver_changed_as_well_is_no_restoration():
    changed = {'VCPU': inventory.Inventory(total=4)}
    assert notes(lambda t: describe(t, 16), inventories=changed) == []
    assert notes(lambda t: describe(t, 4), inventories=changed) == []


def test_a_first_addition_is_no_restoration():
    bare = {'traits': frozenset(), 'inventories': {}}
    assert notes(claims={}, was=None, **bare) == []
    assert notes(claims={}, **bare) == []


def test_what_never_got_there_is_no_restoration():
    bare = dataclasses.replace(WAS, traits=frozenset())
    assert notes(was=bare, traits=frozenset()) == []


def test_what_no_source_asserts_any_more_is_not_restored():
    def edit(tree):
        tree.declare_traits(ROOT)

    assert notes(edit, traits=frozenset()) == []


def test_nothing_is_said_where_nothing_is_missing():
    assert notes() == []


@pytest.mark.parametrize(
    'now',
    [
        {'traits': frozenset({'HW_B'})},
        {'aggregates': frozenset()},
        {'inventories': {}},
        {'inventories': {'VCPU': inventory.Inventory(total=4)}},
    ],
)
def test_what_is_contended_is_left_and_not_called_restored(now):
    items = [
        contention.Item(uuid=ROOT, kind=kind, name=name)
        for (_, kind), by_source in HELD.items()
        for name in by_source['driver']
    ]
    assert notes(contended=items, **now) == []
    gone = [dataclasses.replace(item, there=False) for item in items]
    assert len(notes(contended=gone, **now)) == 1
