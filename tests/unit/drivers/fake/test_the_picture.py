# SPDX-License-Identifier: Apache-2.0
"""The example in etc/ works as it is, and is the picture it draws."""

import pathlib

import os_resource_classes
import os_traits
import pytest

from drivers.fake import driver

EXAMPLE = pathlib.Path(__file__).parents[4] / 'etc' / 'fake.yaml'
SHARES = 'MISC_SHARES_VIA_AGGREGATE'


@pytest.fixture
def example():
    return driver.FakeDriver(str(EXAMPLE))


@pytest.fixture
def picture(example, rooted):
    ((uuid, name),) = example.get_nodenames_by_uuid().items()
    tree = rooted(name, uuid)
    example.update_provider_tree(tree, name)
    return tree


def parents(tree):
    every = [tree.data(uuid) for uuid in tree.get_provider_uuids()]
    return {
        data.name: data.parent_uuid and tree.data(data.parent_uuid).name
        for data in every
    }


def test_every_provider_stands_where_the_picture_has_it(picture):
    assert parents(picture) == {
        'CN1': None,
        'CN1_NUMA1': 'CN1',
        'CN1_PF1': 'CN1_NUMA1',
        'CN1_PF2': 'CN1_NUMA1',
        'CN1_NUMA2': 'CN1',
        'CN1_PF3': 'CN1_NUMA2',
        'CN1_PF4': 'CN1_NUMA2',
        'SSP': None,
        'BW1': None,
    }


@pytest.mark.parametrize(
    ('sharer', 'user'), [('SSP', 'CN1_NUMA2'), ('BW1', 'CN1_PF4')]
)
def test_what_shares_meets_its_user_in_one_aggregate(picture, sharer, user):
    assert SHARES in picture.data(sharer).traits
    members = [
        picture.data(uuid).name
        for uuid in picture.get_provider_uuids()
        if picture.in_aggregates(uuid, picture.data(sharer).aggregates)
    ]
    assert members == [user, sharer]


def test_disk_is_shared_and_virtual_functions_are_not(picture):
    assert picture.has_sharing_provider('DISK_GB')
    assert not picture.has_sharing_provider('SRIOV_NET_VF')


def test_a_second_run_on_its_own_result_says_the_same(
    example, picture, observed
):
    again = observed(picture)
    example.update_provider_tree(again, 'CN1')
    assert again.assertions == picture.assertions
    assert observed(again).baseline == observed(picture).baseline


def test_the_example_uses_names_that_placement_knows(picture):
    for uuid in picture.get_provider_uuids():
        data = picture.data(uuid)
        standard = {t for t in data.traits if not os_traits.is_custom(t)}
        assert standard <= set(os_traits.get_traits())
        assert set(data.inventory) <= set(os_resource_classes.STANDARDS)
