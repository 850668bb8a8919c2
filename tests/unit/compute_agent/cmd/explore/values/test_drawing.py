# SPDX-License-Identifier: Apache-2.0
"""Amounts as bars, and a tree as boxes that do not overlap."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.cmd.explore.values import amounts, picture, traits

COUNTS = st.integers(0, 10_000)


@given(total=COUNTS, reserved=COUNTS, used=COUNTS, ratio=st.floats(0, 32))
def test_a_bar_has_parts_of_one_whole(total, reserved, used, ratio):
    one = amounts.Amount.of(total + reserved, reserved, ratio, used).data()
    bar = one['bar']
    assert all(0 <= part <= 100 for part in bar.values())
    assert sum(bar.values()) <= 100.1
    assert one['free'] == max(one['capacity'] - used, 0)
    assert one['over_capacity'] == max(used - one['capacity'], 0)


def test_what_one_lacks_another_does_not_give():
    full = amounts.Amount.of(8, 0, 1.0, 10)
    free = amounts.Amount.of(8, 2, 2.0, 4)
    ((count, both),) = amounts.summed(
        [{'VCPU': full}, {'VCPU': free}]
    ).values()
    assert count == 2
    found = both.data()
    assert (found['free'], found['over_capacity']) == (8, 2)
    assert (found['total'], found['reserved']) == (16, 2)
    assert found['over_committed'] == 20 - 14


def rows(parents):
    return [
        {
            'uuid': str(number),
            'name': 'x' * 50,
            'parent': None if parent is None else str(parent),
            'amounts': [{'class': 'VCPU'}] * (number % 3),
        }
        for number, parent in enumerate(parents)
    ]


@given(st.lists(st.integers(0, 9), max_size=12))
def test_the_boxes_of_a_tree_do_not_overlap(above):
    parents = [None, *(min(one, n) for n, one in enumerate(above))]
    found = picture.picture(rows(parents), '0', '0')
    assert len(found['boxes']) == len(parents)
    assert len(found['lines']) == len(above)
    for one, other in itertools.combinations(found['boxes'], 2):
        apart = (
            one['left'] + one['width'] <= other['left']
            or other['left'] + other['width'] <= one['left']
            or one['top'] + one['height'] <= other['top']
            or other['top'] + other['height'] <= one['top']
        )
        assert apart
    for box in found['boxes']:
        assert box['left'] + box['width'] <= found['width']
        assert box['top'] + box['height'] <= found['height']
        assert len(box['short']) < 50


def test_a_pool_is_below_the_tree_with_a_dashed_line():
    found = picture.picture(rows([None, 0, None]), '0', '1')
    root, child, pool = found['boxes']
    assert [root['shown'], child['shown']] == [False, True]
    assert pool['pool']
    assert not root['pool']
    assert pool['top'] > child['top']
    assert {line['kind'] for line in found['lines']} == {'edge', 'shared'}


@pytest.mark.parametrize('providers', [[], rows([None])])
def test_a_picture_of_little_is_one(providers):
    assert picture.picture(providers, '9', '9')['width'] > 0


def test_each_trait_is_in_one_group():
    names = [
        'COMPUTE_NODE', 'CUSTOM_A', 'HW_ARCH_X86_64', 'HW_CPU_X86_AVX2',
        'HW_GPU_API_VULKAN', 'OWNER_NOVA', 'STORAGE_DISK_SSD',
    ]  # fmt: skip
    found = traits.grouped(names)
    assert sorted(name for _, few in found for name in few) == names
    assert found[0] == ('CPU', ['HW_CPU_X86_AVX2'])
    assert found[-1] == ('owner and others', ['OWNER_NOVA'])
    assert traits.grouped([]) == []
