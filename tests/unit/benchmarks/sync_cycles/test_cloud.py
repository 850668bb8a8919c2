# SPDX-License-Identifier: Apache-2.0
"""The nodes that both agents report."""

import pytest

from benchmarks.sync_cycles import cloud


def nodes(count, tree_size=1, change=cloud.Change.NOTHING):
    return cloud.parse(cloud.listing(count, tree_size, change))


def test_every_parsing_gives_equal_nodes_and_never_the_same_ones():
    one, other = nodes(3), nodes(3)
    assert one == other
    assert all(a is not b for a, b in zip(one, other, strict=True))


def test_names_and_uuids_are_each_provider_s_own():
    every = [p for n in nodes(20, 5) for p in (n, *n['children'])]
    assert len({p['uuid'] for p in every}) == 100
    assert len({p['name'] for p in every}) == 100


@pytest.mark.parametrize(
    ('count', 'changed'), [(1, 1), (99, 1), (100, 1), (1000, 10)]
)
def test_one_in_a_hundred_changes_and_at_least_one(count, changed):
    before, after = nodes(count), nodes(count, change=cloud.Change.TRAIT)
    differ = [a for a, b in zip(before, after, strict=True) if a != b]
    assert cloud.changed(count) == len(differ) == changed


def test_a_changed_trait_takes_the_place_of_another():
    (before,), (after,) = nodes(1), nodes(1, change=cloud.Change.TRAIT)
    assert set(before['traits']) - set(after['traits']) == {cloud.FIRMWARE}
    assert set(after['traits']) - set(before['traits']) == {cloud.NEW_FIRMWARE}
    assert before['inventory'] == after['inventory']


def test_changed_contents_are_a_trait_and_inventory():
    (before,), (after,) = nodes(1), nodes(1, change=cloud.Change.CONTENTS)
    assert before['traits'] != after['traits']
    assert after['inventory'][cloud.RESOURCE_CLASS]['reserved'] == 1


def test_allocations_do_not_show_in_the_listing():
    assert nodes(1) == nodes(1, change=cloud.Change.ALLOCATIONS)


def test_a_nested_node_is_a_tree_of_that_size():
    (node,) = nodes(1, 50)
    assert len(node['children']) == 49
    assert not any(child['aggregates'] for child in node['children'])


def test_the_rows_are_those_of_every_provider_and_the_agent_s_traits():
    found = cloud.rows(nodes(1, 2))
    assert found['aggregates'] == [f'bench-00000|{cloud.AGGREGATE}']
    assert found['inventories'] == [
        'bench-00000-01|CUSTOM_GOLD|1|0',
        'bench-00000|CUSTOM_GOLD|1|0',
    ]
    assert len(found['traits']) == len(cloud.TRAITS) * 2 + 3
    assert 'bench-00000|COMPUTE_NODE' in found['traits']
    assert 'bench-00000-01|OWNER_NOVA' in found['traits']
    assert 'bench-00000-01|COMPUTE_NODE' not in found['traits']
    assert all(some == sorted(some) for some in found.values())
