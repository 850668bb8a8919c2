# SPDX-License-Identifier: Apache-2.0
"""A row of Ironic's is taken whole, or for nothing at all."""

import os_traits
import pytest

from compute_agent import errors
from drivers.ironic import node, traits

UUID = '3f2c9a54-6f0e-4c0b-9a1d-8b7a5c0d1e2f'


@pytest.mark.parametrize('field', node.FIELDS)
def test_a_row_without_a_field_is_malformed(make_row, field):
    row = make_row()
    del row[field]
    with pytest.raises(errors.UnknownState, match=field):
        node.Node.from_row(row)


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        ('uuid', None),
        ('uuid', 7),
        ('uuid', ''),
        ('uuid', 'node-1'),
        ('uuid', f'{{{UUID}}}'),
        ('uuid', [UUID]),
        ('name', 7),
        ('name', ['n']),
        ('resource_class', 7),
        ('resource_class', {}),
        ('traits', None),
        ('traits', 'CUSTOM_A'),
        ('traits', {'CUSTOM_A': 1}),
        ('traits', ['CUSTOM_A', None]),
        ('power_state', False),
        ('provision_state', 0),
        ('maintenance', None),
        ('maintenance', 'false'),
        ('maintenance', 0),
        ('instance_uuid', False),
    ],
)
def test_a_field_of_another_type_is_malformed(make_row, field, value):
    with pytest.raises(errors.UnknownState, match=field) as raised:
        node.Node.from_row(make_row(**{field: value}))
    assert repr(value) in str(raised.value)


def test_a_row_that_makes_no_sense_names_its_node(make_row):
    row = make_row(maintenance=None)
    with pytest.raises(errors.UnknownState, match=row['uuid']):
        node.Node.from_row(row)


def test_what_was_not_asked_for_is_no_matter(make_row):
    one = node.Node.from_row(make_row(extra={'a': 1}, driver='fake'))
    assert one == node.Node.from_row(make_row())


def test_only_what_is_needed_is_asked_for():
    assert node.FIELDS == (
        'uuid',
        'name',
        'resource_class',
        'traits',
        'power_state',
        'provision_state',
        'maintenance',
        'instance_uuid',
    )


@pytest.mark.parametrize('spelling', node.spellings(UUID))
def test_a_uuid_is_one_however_it_is_spelled(spelling):
    assert node.canonical(spelling) == UUID


def test_the_usual_spelling_comes_first():
    assert node.spellings(UUID)[0] == UUID
    assert len(set(node.spellings(UUID))) == 4


def test_a_node_is_called_by_its_name_and_never_without_its_uuid(make_row):
    named = node.Node.from_row(make_row(uuid=UUID, name='rack1'))
    assert str(named) == f'rack1 ({UUID})'
    assert named.called == 'rack1'
    nameless = node.Node.from_row(make_row(uuid=UUID, name=None))
    assert str(nameless) == nameless.called == UUID


def test_the_capabilities_are_standard_traits_in_order():
    assert list(traits.CAPABILITIES) == sorted(set(traits.CAPABILITIES))
    assert set(traits.CAPABILITIES) <= set(os_traits.get_traits())
