# SPDX-License-Identifier: Apache-2.0
"""A row of Ironic's is taken whole, or for nothing at all."""

import os_traits
import pytest

from compute_agent import errors
from drivers.ironic.nodes import node

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


@pytest.mark.parametrize(
    'spelling',
    [
        *node.spellings(UUID),
        f'{{{UUID}}}',
        f'urn:uuid:{UUID.upper()}',
        UUID.replace('-', '', 2),
        '3F2c9A54-6f0E-4c0b-9A1d-8B7a5c0d1E2f',
    ],
)
def test_a_uuid_is_one_however_it_is_spelled(make_row, spelling):
    assert node.canonical(spelling) == UUID
    one = node.Node.from_row(make_row(uuid=spelling))
    assert (one.uuid, one.ident) == (UUID, spelling)


BARE = UUID.replace('-', '')
NO_UUIDS = {
    'a name': 'node-1',
    'too short': UUID[:-1],
    'too long': f'{UUID}0',
    'a blank for a digit': f' {BARE[1:]}',
    'a newline': f'{BARE[:-1]}\n',
    'a sign': f'+{BARE[1:]}',
    'a prefix': f'0x{BARE[2:]}',
    'an underscore': f'{BARE[:8]}_{BARE[9:]}',
    'digits of others': BARE.replace('0', '\uff10'),
    'braces within': f'{BARE[:8]}{{}}{BARE[8:]}',
    'an escape': f'\x1b[31m{BARE}',
}


@pytest.mark.parametrize('ident', NO_UUIDS.values(), ids=NO_UUIDS)
def test_what_is_no_uuid_is_told_from_what_makes_no_sense(make_row, ident):
    with pytest.raises(node.NoUuid) as raised:
        node.Node.from_row(make_row(uuid=ident, name='rack1'))
    assert str(raised.value).isprintable()
    assert "(name 'rack1') has an invalid uuid" in str(raised.value)
    nameless = make_row(uuid=ident, name=None)
    with pytest.raises(node.NoUuid, match="' has an invalid uuid"):
        node.Node.from_row(nameless)
    del nameless['traits']
    with pytest.raises(errors.UnknownState, match='without traits') as raised:
        node.Node.from_row(nameless)
    assert not isinstance(raised.value, node.NoUuid)
    assert str(raised.value).isprintable()


def test_a_uuid_is_asked_for_as_it_was_said_first():
    usual = {UUID, UUID.upper(), BARE, BARE.upper()}
    assert node.spellings(UUID)[0] == UUID
    assert set(node.spellings(UUID)) == usual
    odd = f'{{{UUID}}}'
    assert node.spellings(odd)[0] == odd
    assert set(node.spellings(odd)) == {odd, *usual}


@pytest.mark.parametrize('name', ['rack1', 'beef', UUID[:-1]])
def test_a_name_is_asked_for_as_it_is(name):
    assert node.spellings(name) == (name,)


def test_a_node_is_called_by_its_name_and_never_without_its_uuid(make_row):
    named = node.Node.from_row(make_row(uuid=UUID, name='rack1'))
    assert str(named) == f'rack1 ({UUID})'
    assert named.called == 'rack1'
    nameless = node.Node.from_row(make_row(uuid=UUID, name=None))
    assert str(nameless) == nameless.called == UUID
    capitals = node.Node.from_row(make_row(uuid=UUID.upper(), name=None))
    assert capitals.called == UUID.upper()
    assert str(capitals) == f'{UUID.upper()} ({UUID})'


def test_a_name_cannot_move_the_cursor(make_row):
    one = node.Node.from_row(make_row(uuid=UUID, name='a\x1b[2J\nb\u202e'))
    assert one.called == r'a\x1b[2J\nb\u202e'
    assert str(one) == f'{one.called} ({UUID})'


def test_the_capabilities_are_standard_traits_in_order():
    assert list(node.CAPABILITIES) == sorted(set(node.CAPABILITIES))
    assert set(node.CAPABILITIES) <= set(os_traits.get_traits())
