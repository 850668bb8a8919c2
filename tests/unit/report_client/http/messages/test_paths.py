# SPDX-License-Identifier: Apache-2.0
"""The paths of placement's API, to the letter."""

import pytest

from compute_agent.tree.assertion import Kind
from report_client.http.messages import paths

UUID = '00000000-0000-0000-0000-000000000001'
AGG1 = '00000000-0000-0000-0000-0000000000a1'
AGG2 = '00000000-0000-0000-0000-0000000000a2'
PROVIDER = f'/resource_providers/{UUID}'


@pytest.mark.parametrize(
    ('kind', 'path'),
    [
        (Kind.TRAIT, f'{PROVIDER}/traits'),
        (Kind.AGGREGATE, f'{PROVIDER}/aggregates'),
        (Kind.INVENTORY, f'{PROVIDER}/inventories'),
    ],
)
def test_each_kind_is_read_where_it_is_written(kind, path):
    assert paths.collection(UUID, kind) == path


def test_what_is_allocated_of_a_provider_is_one_read():
    assert paths.allocations(UUID) == f'{PROVIDER}/allocations'


def test_one_tree_is_listed_by_any_of_its_providers():
    assert paths.in_tree(UUID) == f'/resource_providers?in_tree={UUID}'


def test_sharing_providers_are_listed_by_their_trait():
    assert paths.sharing([]) == (
        '/resource_providers?required=MISC_SHARES_VIA_AGGREGATE'
    )


def test_sharing_providers_of_some_aggregates_are_listed_by_both():
    assert paths.sharing({AGG2, AGG1}) == (
        '/resource_providers?required=MISC_SHARES_VIA_AGGREGATE'
        f'&member_of=in:{AGG1},{AGG2}'
    )


@pytest.mark.parametrize(
    ('name', 'query'),
    [
        ('node1', 'node1'),
        ('a b', 'a+b'),
        ('0000:81:00.0', '0000%3A81%3A00.0'),
        ('a&b=c', 'a%26b%3Dc'),
        ('größe', 'gr%C3%B6%C3%9Fe'),
    ],
)
def test_a_provider_is_found_by_any_name(name, query):
    assert paths.by_name(name) == f'/resource_providers?name={query}'


def test_a_consumer_s_allocations_are_one_read():
    assert paths.consumer('c1') == '/allocations/c1'
