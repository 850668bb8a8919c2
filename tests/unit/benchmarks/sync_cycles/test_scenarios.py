# SPDX-License-Identifier: Apache-2.0
"""What a run measures, and in which order."""

import pytest

from benchmarks.sync_cycles import scenarios

FLAT, NESTED, CROWDED = scenarios.Shape


def groups(shapes, nodes, repeats=1, databases=('postgresql',)):
    return list(scenarios.groups(databases, shapes, nodes, repeats))


@pytest.mark.parametrize('shape', scenarios.Shape)
def test_a_first_sync_comes_first_for_the_others_start_from_it(shape):
    first, *others = scenarios.SCENARIOS[shape]
    assert first.is_first
    assert others
    assert not any(one.is_first for one in others)


def test_every_scenario_can_be_found_by_its_name():
    every = {one for some in scenarios.SCENARIOS.values() for one in some}
    assert set(scenarios.BY_NAME.values()) == every
    assert all(one.name == name for name, one in scenarios.BY_NAME.items())


def test_the_agents_take_turns_on_one_cloud():
    found = [(one.repeat, one.agent) for one in groups([FLAT], [1], 2)]
    nova, ours = scenarios.NOVA, scenarios.OURS
    assert found == [(0, nova), (0, ours), (1, nova), (1, ours)]


def test_nova_is_spared_clouds_that_would_take_it_an_hour():
    found = {(one.nodes, one.agent) for one in groups([FLAT], [1000, 10000])}
    assert (1000, scenarios.NOVA) in found
    assert (10000, scenarios.OURS) in found
    assert (10000, scenarios.NOVA) not in found


def test_other_shapes_have_their_own_number_of_nodes():
    found = groups([NESTED, CROWDED], [7])
    assert {(one.shape, one.nodes) for one in found} == {
        (NESTED, 1),
        (CROWDED, scenarios.CROWDED_NODES),
    }
    assert {one.shape.tree_size for one in found} == {1, 50}


def test_only_what_stays_as_it_is_can_be_measured_again():
    lasting = {
        one.name for one in scenarios.BY_NAME.values() if one.is_lasting
    }
    assert lasting == {'steady', 'stale'}


def test_the_slow_full_read_is_this_agent_s_alone():
    nova, ours = groups([FLAT], [1])
    assert scenarios.SLOW_READ in ours.scenarios
    assert scenarios.SLOW_READ not in nova.scenarios


def test_a_group_says_what_it_is():
    one, _ = groups([FLAT], [1], databases=['sqlite'])
    many, _ = groups([FLAT], [2], databases=['sqlite'])
    assert str(one) == 'sqlite, flat, 1 node, nova'
    assert str(many) == 'sqlite, flat, 2 nodes, nova'
