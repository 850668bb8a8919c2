# SPDX-License-Identifier: Apache-2.0
"""The first difference of two descriptions names its place and both values."""

import copy

import pytest

from compute_agent.testing.values import differences

ROOT = '11111111-0000-4000-8000-000000000001'
CHILD = '11111111-0000-4000-8000-000000000002'


def said():
    names = {'names': ['CUSTOM_A', 'CUSTOM_B'], 'keep': False}
    return {
        'rack': {
            'providers': [[ROOT, 'rack', None], [CHILD, 'rack-gpu', ROOT]],
            'asserted': {f'{ROOT} trait': names},
            'inventories': {CHILD: {'VGPU': {'total': 4}}},
            'notes': ['all is well'],
        }
    }


def inventory(node):
    node['inventories'][CHILD]['VGPU']['total'] = 8


def trait(node):
    node['asserted'][f'{ROOT} trait']['names'][1] = 'CUSTOM_C'


def order(node):
    node['notes'] += ['really']


def less(node):
    node['inventories'] = {}


@pytest.mark.parametrize(
    ('change', 'line'),
    [
        (
            inventory,
            (
                'node rack, inventories, of provider rack-gpu, VGPU, total: 4 and '
                'then 8'
            ),
        ),
        (
            trait,
            (
                "node rack, asserted, trait of provider rack, names: ['CUSTOM_B'] "
                "and then ['CUSTOM_C']"
            ),
        ),
        (order, "node rack, notes: [] and then ['really']"),
        (
            less,
            (
                "node rack, inventories, of provider rack-gpu: {'VGPU': {'total': "
                "4}} and then 'nothing'"
            ),
        ),
    ],
)
def test_a_difference_has_its_place_and_both_values(change, line):
    other = copy.deepcopy(said())
    change(other['rack'])
    assert differences.between_descriptions(said(), other) == line


def test_equal_descriptions_have_no_difference():
    assert differences.between_descriptions(said(), said()) == ''


def test_another_order_is_a_difference():
    other = said()
    other['rack']['providers'].reverse()
    assert 'node rack, providers: ' in differences.between_descriptions(
        said(), other
    )


def test_a_node_that_is_missing_is_a_difference():
    assert differences.between_descriptions(said(), {}) == (
        'node rack is described only once of two times'
    )


@pytest.mark.parametrize(
    ('fresh', 'now', 'said'),
    [
        ({'a': {}}, {'a': {}}, ''),
        ({}, {'a': {}}, 'provider a is still there'),
        ({'a': {}}, {}, 'provider a is missing'),
        (
            {'a': {}},
            {'a': {'traits': ['T']}},
            'T of provider a is still there',
        ),
        ({'a': {'traits': ['T']}}, {'a': {}}, 'T of provider a is missing'),
        (
            {'a': {'inventories': {'VCPU': 1}}},
            {'a': {'inventories': {'VCPU': 2}}},
            'VCPU of provider a is 2 and should be 1',
        ),
        (
            {'a': {'parent': 'b'}, 'b': {}},
            {'a': {}, 'b': {}},
            'provider a is below None and should be below b',
        ),
        ({'a': {'uuid': '1'}}, {'a': {'uuid': '2'}}, ''),
    ],
)
def test_the_rest_of_an_old_world_is_named(fresh, now, said):
    assert differences.left_over(fresh, now) == said
