# SPDX-License-Identifier: Apache-2.0
"""Plans and operations as people read them and as programs do."""

import dataclasses
import json

import pytest

from compute_agent.plan import removal
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.plan.removal import Reason
from compute_agent.tree import inventory
from report_client.plan import render


def create(name='node', parent=None):
    return ops.CreateProvider(uuid='u1', name=name, parent_uuid=parent)


def update(name='node', parent='p1', old_name='node', old_parent='p1'):
    return ops.UpdateProvider(
        uuid='u1',
        name=name,
        parent_uuid=parent,
        old_name=old_name,
        old_parent_uuid=old_parent,
    )


def set_names(kind, names, before='', foreign=''):
    return kind(
        uuid='u1',
        name='node',
        names=frozenset(names.split()),
        before=frozenset(before.split()),
        foreign=frozenset(foreign.split()),
    )


def records(given):
    return {
        rc: inventory.Inventory.from_record(record)
        for rc, record in given.items()
    }


def set_inventories(after, before=None, foreign=''):
    return ops.SetInventories(
        uuid='u1',
        name='node',
        inventories=records(after),
        before=records(before or {}),
        foreign=frozenset(foreign.split()),
    )


TRAITS = set_names(ops.SetTraits, 'B A C', 'C E D', 'D')
AGGREGATES = set_names(ops.SetAggregates, 'agg2', 'agg1 agg3', 'agg3')
INVENTORIES = set_inventories(
    {
        'VCPU': {'total': 8, 'max_unit': 8, 'allocation_ratio': 16.0},
        'DISK_GB': {'total': 100},
        'MEMORY_MB': {'total': 1024, 'reserved': 512, 'max_unit': 1024},
    },
    {
        'DISK_GB': {'total': 90, 'allocation_ratio': 1.5},
        'PCPU': {'total': 1},
        'CUSTOM_OLD': {'total': 1},
    },
    'CUSTOM_OLD',
)

LINES = [
    (ops.CreateTrait(name='CUSTOM_A'), 'create trait CUSTOM_A'),
    (
        ops.CreateResourceClass(name='CUSTOM_GOLD'),
        'create resource class CUSTOM_GOLD',
    ),
    (create(), 'create provider node (u1)'),
    (create(parent='p1'), 'create provider node (u1) below p1'),
    (
        update(old_name='old'),
        'update provider old (u1): rename it to node',
    ),
    (update(parent='p2'), 'update provider node (u1): move it below p2'),
    (
        update(parent=None),
        'update provider node (u1): move it below nothing',
    ),
    (
        update(old_name='old', parent='p2'),
        'update provider old (u1): rename it to node, move it below p2',
    ),
    (
        ops.DeleteProvider(uuid='u1', name='node'),
        'delete provider node (u1)',
    ),
    (TRAITS, "set traits of node (u1): +A, +B, -D !another's, -E"),
    (
        AGGREGATES,
        "set aggregates of node (u1): +agg2, -agg1, -agg3 !another's",
    ),
    (
        INVENTORIES,
        (
            'set inventories of node (u1): +MEMORY_MB 1024 reserved=512, '
            '+VCPU 8 allocation_ratio=16, '
            '~DISK_GB total=90→100 allocation_ratio=1.5→1, '
            "-CUSTOM_OLD !another's, -PCPU"
        ),
    ),
]


@pytest.mark.parametrize(('operation', 'line'), LINES)
def test_an_operation_is_one_line(operation, line):
    assert render.line(operation) == line


@pytest.mark.parametrize(
    ('record', 'shown'),
    [
        ({'total': 8}, '8'),
        ({'total': 8, 'max_unit': 8}, '8'),
        ({'total': 8, 'max_unit': 4}, '8 max_unit=4'),
        ({'total': 8, 'reserved': 2}, '8 reserved=2'),
        (
            {'total': 8, 'min_unit': 2, 'step_size': 2},
            '8 min_unit=2 step_size=2',
        ),
        ({'total': 8, 'allocation_ratio': 1.0}, '8'),
        ({'total': 8, 'allocation_ratio': 1.25}, '8 allocation_ratio=1.25'),
        ({'total': 2097152}, '2097152'),
    ],
)
def test_a_new_record_is_shown_without_its_defaults(record, shown):
    line = render.line(set_inventories({'VCPU': record}))
    assert line == f'set inventories of node (u1): +VCPU {shown}'


@pytest.mark.parametrize(
    ('before', 'after', 'shown'),
    [
        ({'total': 8}, {'total': 9}, 'total=8→9'),
        (
            {'total': 8, 'reserved': 1},
            {'total': 9, 'reserved': 2},
            'total=8→9 reserved=1→2',
        ),
        ({'total': 2097152}, {'total': 2097153}, 'total=2097152→2097153'),
        (
            {'total': 8, 'max_unit': 8},
            {'total': 8},
            'max_unit=8→2147483647',
        ),
        (
            {'total': 8, 'allocation_ratio': 1.5},
            {'total': 8, 'allocation_ratio': 16.0},
            'allocation_ratio=1.5→16',
        ),
        (
            {'total': 8, 'allocation_ratio': 1.2999999523162842},
            {'total': 9, 'allocation_ratio': 1.3},
            'total=8→9',
        ),
    ],
)
def test_a_changed_record_is_shown_by_what_is_different(before, after, shown):
    line = render.line(set_inventories({'VCPU': after}, {'VCPU': before}))
    assert line == f'set inventories of node (u1): ~VCPU {shown}'


def of(*operations, notes=()):
    return Plan(node_uuid='u1', operations=operations, before={}, notes=notes)


WHOLE = """\
node (u1)
  create trait CUSTOM_A
  create provider node (u1) below p1
  set traits of node (u1)
      +A  +B  -D !another's  -E
  set inventories of node (u1)
      +MEMORY_MB 1024 reserved=512  +VCPU 8 allocation_ratio=16
      ~DISK_GB total=90→100 allocation_ratio=1.5→1  -CUSTOM_OLD !another's
      -PCPU
  update provider old (u1)
      rename it to node  move it below p2
  delete provider node (u1)
  note: one thing
  note: another thing
  6 operations"""


def test_a_plan_is_read_from_top_to_bottom():
    whole = of(
        ops.CreateTrait(name='CUSTOM_A'),
        create(parent='p1'),
        TRAITS,
        INVENTORIES,
        update(old_name='old', parent='p2'),
        ops.DeleteProvider(uuid='u1', name='node'),
        notes=('one thing', 'another thing'),
    )
    assert render.text(whole, 'node') == WHOLE


@pytest.mark.parametrize(
    ('operations', 'count'),
    [
        ((), 'nothing to do'),
        ((create(),), '1 operation'),
        ((create(), TRAITS), '2 operations'),
    ],
)
def test_the_last_line_counts(operations, count):
    assert render.text(of(*operations), 'node').splitlines()[-1] == (
        f'  {count}'
    )


def test_a_plan_of_nothing_still_says_its_notes():
    assert render.text(of(notes=('left out',)), 'node') == (
        'node (u1)\n  note: left out\n  nothing to do'
    )


def test_marks_are_broken_into_lines_each_of_them_whole():
    names = [f'CUSTOM_{"X" * 20}_{number}' for number in range(9)]
    text = render.text(of(set_names(ops.SetTraits, ' '.join(names))), 'node')
    marks = text.splitlines()[2:-1]
    assert ' '.join(marks).split() == [f'+{name}' for name in names]
    assert len(marks) == 5
    assert all(len(line) <= 6 + 72 for line in marks)


def test_one_mark_may_be_longer_than_a_line():
    name = 'CUSTOM_' + 'X' * 248
    text = render.text(of(set_names(ops.SetTraits, name)), 'node')
    assert text.splitlines()[1:-1] == [
        '  set traits of node (u1)',
        f'      +{name}',
    ]


def test_a_line_of_marks_is_full_at_72_characters():
    fits = f'{"A" * 34} {"B" * 34}'
    text = render.text(of(set_names(ops.SetTraits, fits)), 'node')
    assert len(text.splitlines()[2]) == 6 + 72
    text = render.text(of(set_names(ops.SetTraits, fits + 'B')), 'node')
    assert len(text.splitlines()[2]) == 6 + 35


def test_data_is_in_order():
    letters = ' '.join('DBECA')
    data = render.operation_data(
        set_names(ops.SetTraits, letters, letters.lower(), letters.lower())
    )
    assert data['names'] == data['added'] == list('ABCDE')
    assert data['removed'] == data['foreign'] == list('abcde')
    kept = {rc: {'total': 1} for rc in 'JHIGF'}
    changed = {rc: {'total': 2} for rc in kept}
    gone = {rc: {'total': 1} for rc in letters.split()}
    data = render.operation_data(
        set_inventories(changed, {**kept, **gone}, letters)
    )
    assert list(data['inventories']) == data['changed'] == list('FGHIJ')
    assert data['removed'] == data['foreign'] == list('ABCDE')
    data = render.operation_data(set_inventories(changed))
    assert data['added'] == list('FGHIJ')


def test_marks_are_in_order():
    kept = {rc: {'total': 1} for rc in 'JHIGF'}
    changed = {rc: {'total': 2} for rc in kept}
    line = render.line(set_inventories(changed, kept))
    assert [mark[1] for mark in line.partition(': ')[2].split(', ')] == list(
        'FGHIJ'
    )


@pytest.mark.parametrize('name', ['rack 1: gpu', 'a, b', 'x: y, z: '])
def test_a_name_with_punctuation_comes_through_whole(name):
    operations = [
        create(name=name),
        update(name=name),
        update(old_name=name),
        ops.DeleteProvider(uuid='u1', name=name),
        ops.SetTraits(
            uuid='u1',
            name=name,
            names=frozenset({'A'}),
            before=frozenset(),
        ),
    ]
    for operation in operations:
        assert name in render.line(operation)
        text = render.text(of(operation), 'node')
        assert name in text
        assert len(text.splitlines()) <= 4


@pytest.mark.parametrize(
    'name',
    ['two\nlines', 'bell\x07', '\x1b[31mred'],
    ids=['line', 'bell', 'escape'],
)
def test_a_name_moves_neither_cursor_nor_line(name):
    for operation in (create(name=name), update(old_name=name)):
        assert render.line(operation).isprintable()
        text = render.text(of(operation), 'node')
        assert all(line.isprintable() for line in text.splitlines())
        assert len(text.splitlines()) <= 4


DATA = [
    (
        ops.CreateTrait(name='CUSTOM_A'),
        {'operation': 'create_trait', 'trait': 'CUSTOM_A'},
    ),
    (
        ops.CreateResourceClass(name='CUSTOM_GOLD'),
        {
            'operation': 'create_resource_class',
            'resource_class': 'CUSTOM_GOLD',
        },
    ),
    (
        create(parent='p1'),
        {
            'operation': 'create_provider',
            'provider': 'node',
            'uuid': 'u1',
            'parent': 'p1',
        },
    ),
    (
        update(old_name='old', parent=None),
        {
            'operation': 'update_provider',
            'provider': 'node',
            'uuid': 'u1',
            'parent': None,
            'old_provider': 'old',
            'old_parent': 'p1',
        },
    ),
    (
        ops.DeleteProvider(uuid='u1', name='node'),
        {
            'operation': 'delete_provider',
            'provider': 'node',
            'uuid': 'u1',
            'cause': None,
        },
    ),
    (
        TRAITS,
        {
            'operation': 'set_traits',
            'provider': 'node',
            'uuid': 'u1',
            'names': ['A', 'B', 'C'],
            'added': ['A', 'B'],
            'removed': ['D', 'E'],
            'foreign': ['D'],
            'causes': {},
        },
    ),
    (
        AGGREGATES,
        {
            'operation': 'set_aggregates',
            'provider': 'node',
            'uuid': 'u1',
            'names': ['agg2'],
            'added': ['agg2'],
            'removed': ['agg1', 'agg3'],
            'foreign': ['agg3'],
            'causes': {},
        },
    ),
    (
        set_inventories(
            {'VCPU': {'total': 9}, 'DISK_GB': {'total': 1}},
            {'VCPU': {'total': 8}, 'PCPU': {'total': 1}},
            'PCPU',
        ),
        {
            'operation': 'set_inventories',
            'provider': 'node',
            'uuid': 'u1',
            'inventories': {
                'DISK_GB': inventory.Inventory(total=1).to_record(),
                'VCPU': inventory.Inventory(total=9).to_record(),
            },
            'before': {
                'PCPU': inventory.Inventory(total=1).to_record(),
                'VCPU': inventory.Inventory(total=8).to_record(),
            },
            'added': ['DISK_GB'],
            'changed': ['VCPU'],
            'removed': ['PCPU'],
            'foreign': ['PCPU'],
            'causes': {},
        },
    ),
]


@pytest.mark.parametrize(('operation', 'data'), DATA)
def test_an_operation_is_data_that_says_which_it_is(operation, data):
    assert render.operation_data(operation) == data
    assert json.loads(json.dumps(data)) == render.operation_data(operation)


FILE = 'file:/etc/nova/a\nb.yaml'
CAUSES = {
    'A': removal.Cause(reason=Reason.UNCLAIMED, sources=('driver',)),
    'B': removal.Cause(reason=Reason.UNCLAIMED, sources=('driver', FILE)),
    'C': removal.Cause(reason=Reason.UNCLAIMED),
    'D': removal.Cause(reason=Reason.COMPLETE_LIST, sources=('driver',)),
    'E': removal.Cause(reason=Reason.PRUNED),
}


def test_the_cause_stands_beside_each_name_that_goes():
    operation = dataclasses.replace(
        set_names(ops.SetTraits, '', 'A B C D E F', 'D'), causes=CAUSES
    )
    assert render.line(operation) == (
        'set traits of node (u1): '
        '-A (the driver no longer reports it), '
        r'-B (the driver and file:/etc/nova/a\nb.yaml no longer report it), '
        '-C (no source claims it any more), '
        "-D !another's (not in the complete list of the driver), "
        '-E (removed by --prune), -F'
    )
    data = render.operation_data(operation)
    assert data['causes'] == {
        'A': {'reason': 'unclaimed', 'sources': ['driver']},
        'B': {'reason': 'unclaimed', 'sources': ['driver', FILE]},
        'C': {'reason': 'unclaimed', 'sources': []},
        'D': {'reason': 'complete_list', 'sources': ['driver']},
        'E': {'reason': 'pruned', 'sources': []},
    }


def test_the_cause_of_a_deletion_is_shown():
    operation = ops.DeleteProvider(
        uuid='u1',
        name='node',
        cause=removal.Cause(reason=Reason.NODE_GONE),
    )
    assert render.line(operation) == (
        'delete provider node (u1): its node is gone'
    )
    assert render.operation_data(operation)['cause'] == {
        'reason': 'node_gone',
        'sources': [],
    }


def test_two_operations_that_differ_in_the_cause_only_are_equal():
    operation = set_names(ops.SetTraits, '', 'A')
    caused = dataclasses.replace(operation, causes={'A': CAUSES['A']})
    assert caused == operation
    assert hash(caused) == hash(operation)


def test_a_plan_is_data():
    operations = [operation for operation, _ in DATA]
    whole = render.data(of(*operations, notes=('a note',)), 'node')
    assert whole == {
        'node': 'node',
        'uuid': 'u1',
        'operations': [data for _, data in DATA],
        'notes': ['a note'],
        'faults': [],
    }
    assert json.loads(json.dumps(whole)) == whole
