# SPDX-License-Identifier: Apache-2.0
"""Seed 004's shape change: allocated inventory moves from a root to children.

VGPUs were reported on the root and are reported on two children from now on.
What is not this node's tree is as before, whatever moves.
"""

import agents
import placement_api
import pytest
from agents import NAME, NODE
from vgpu_cloud import (
    ALONE,
    GPU0,
    GPU1,
    LATE,
    MOVED,
    READS,
    RESHAPE,
    SHARE,
    TWO_NODES,
    WITH_DISK,
    Mover,
    allocate,
    allocated,
    check,
    on_children,
    reshapes,
)

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.plan.operations import operations as ops
from report_client.plan import render

Status = resource_tracker.Status


def test_inventory_moves_with_what_is_allocated_of_it(
    placement, agent_factory, operator, vgpus_in_use
):
    driver = Mover()
    agent = agent_factory(driver, state=vgpus_in_use)
    (result,) = agent.done()
    check(placement, operator)
    assert sum(isinstance(op, ops.Reshape) for op in result.applied) == 1
    assert len(driver.given) == 3
    assert driver.given[0] is driver.given[2] is None
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_it_takes_these_requests_and_no_others(
    placement, agent_factory, vgpus_in_use
):
    agent = agent_factory(Mover(), state=vgpus_in_use)
    agent.plan()  # reads again what moved when it was allocated
    agent.client.observe([NODE])
    placement.clear()
    agent.done()
    shares = 'GET /resource_providers?required=MISC_SHARES_VIA_AGGREGATE'
    assert [line.partition('&')[0] for line in agents.sent(placement)] == [
        f'GET {NAME}/allocations',  # a check of the only provider
        f'GET {NAME}/allocations',
        *(f'GET /allocations/{one}' for one in (ALONE, WITH_DISK, TWO_NODES)),
        'POST /resource_providers',
        'POST /resource_providers',
        f'PUT {GPU0}/traits',
        f'PUT {GPU1}/traits',
        f'GET {NAME}/inventories',
        RESHAPE,
        'GET /resource_providers?in_tree=node-1',
        *(
            f'GET {provider}/{kind}'
            for provider in (NAME, GPU0, GPU1)
            for kind in READS
        ),
        shares,
        *(f'GET {SHARE}/{kind}' for kind in READS),
    ]


@pytest.mark.catches("a reshape drops consumers' allocations from other trees")
def test_a_reshape_sends_inventories_of_its_own_tree_only(
    placement, agent_factory, operator, vgpus_in_use
):
    """Nova sends those of all providers it remembers, sharing ones empty."""
    before = operator.inventories(SHARE)
    agent_factory(Mover(), state=vgpus_in_use).done()
    (request,) = [r for r in placement.requests if str(r) == RESHAPE]
    assert set(request.body['inventories']) == {NODE, GPU0, GPU1}
    assert set(request.body['allocations']) == {ALONE, WITH_DISK, TWO_NODES}
    assert operator.inventories(SHARE) == before != {}
    check(placement, operator)


def test_who_has_it_and_of_which_type_stays_as_it_is(
    placement, agent_factory, operator, vgpus_in_use
):
    """A consumer from before there were types has one that cannot be sent."""
    body = {
        'allocations': {NODE: {'resources': {'VGPU': 1}}},
        'project_id': 'other-project',
        'user_id': 'other-user',
        'consumer_generation': None,
    }
    placement.put(f'/allocations/{LATE}', body, microversion='1.30')
    agent_factory(Mover(), state=vgpus_in_use).done()
    old = placement.get(f'/allocations/{LATE}')
    assert (old['project_id'], old['user_id'], old['consumer_type']) == (
        'other-project',
        'other-user',
        'unknown',
    )
    assert (
        placement.get(f'/allocations/{ALONE}')['consumer_type'] == 'INSTANCE'
    )
    assert allocated(placement, LATE) == {LATE: {GPU0: {'VGPU': 1}}}


def test_a_consumer_that_moves_nothing_is_not_sent(
    placement, agent_factory, operator, vgpus_in_use
):
    allocate(placement, LATE, {NODE: {'VCPU': 1}})
    before = placement.get(f'/allocations/{LATE}')['consumer_generation']
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)
    after = placement.get(f'/allocations/{LATE}')
    assert after['consumer_generation'] == before


def test_plan_says_it_and_does_nothing(
    placement, agent_factory, operator, vgpus_in_use
):
    before = allocated(placement), operator.holdings()
    (result,) = agent_factory(Mover(), state=vgpus_in_use).plan()
    text = render.text(result.plan, NAME)
    assert f'reshape {NAME} ({NODE})' in text
    assert '4 VGPU from node-1 (3 consumers)' in text
    assert '2 VGPU to gpu0 (2 consumers)' in text
    (data,) = [
        one
        for one in render.data(result.plan, NAME)['operations']
        if one['operation'] == 'reshape'
    ]
    assert [one['provider'] for one in data['inventories']] == [
        NAME,
        'gpu0',
        'gpu1',
    ]
    assert {c['consumer']: c['after'] for c in data['consumers']} == MOVED
    assert placement.writes == []
    assert (allocated(placement), operator.holdings()) == before


def test_an_older_placement_does_it_too(
    placement, agent_factory, operator, vgpus_in_use
):
    placement_api.OldPlacement(placement)('1.30')
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)


def test_what_nobody_has_moves_without_a_reshape(
    placement, agent_factory, operator, vgpus_in_use
):
    for consumer in (ALONE, WITH_DISK, TWO_NODES):
        placement.delete(f'/allocations/{consumer}')
    agent_factory(Mover(), state=vgpus_in_use).done()
    assert reshapes(placement) == []
    assert set(operator.inventories()) == {'VCPU'}
    assert operator.inventories(GPU1)['VGPU']['total'] == 3


def test_a_child_that_goes_leaves_its_guests_to_another(
    placement, agent_factory, operator, vgpus_in_use
):
    """And its name, which the new one has."""
    agent_factory(Mover(), state=vgpus_in_use).done()
    new = '33333333-3333-4333-8333-333333333339'

    class Replacing(Mover):
        def update_provider_tree(
            self, provider_tree, nodename, allocations=None
        ):
            if provider_tree.exists(GPU0):
                if allocations is None:
                    raise errors.ReshapeNeeded
                provider_tree.remove(GPU0)
                for one in allocations.values():
                    parts = one['allocations']
                    if GPU0 in parts:
                        parts[new] = parts.pop(GPU0)
            if not provider_tree.exists(new):
                provider_tree.new_child('gpu0', nodename, new)
            provider_tree.update_inventory(new, {'VGPU': {'total': 3}})

    agent = agent_factory(Replacing(), state=vgpus_in_use)
    agent.done()
    now = allocated(placement)
    assert now[ALONE] == {new: {'VGPU': 1}}
    assert now[WITH_DISK][new] == {'VGPU': 1}
    names = {name: one['uuid'] for name, one in operator.holdings().items()}
    assert names['gpu0'] == new
    assert GPU0 not in names.values()
    placement.clear()
    agent.done()
    assert placement.writes == []


def test_guests_change_places_between_children_that_stay_as_they_are(
    placement, agent_factory, operator, vgpus_in_use
):
    agent_factory(Mover(), state=vgpus_in_use).done()
    left = [None]

    class Shuffling(agents.Driver):
        def update_provider_tree(
            self, provider_tree, nodename, allocations=None
        ):
            on_children(provider_tree, nodename)
            if not left:
                return
            if allocations is None:
                raise errors.ReshapeNeeded
            left.clear()
            parts = allocations[ALONE]['allocations']
            parts[GPU1] = parts.pop(GPU0)

    placement.clear()
    agent_factory(Shuffling(on_children), state=vgpus_in_use).done()
    (request,) = reshapes(placement)
    assert set(request.body['inventories']) == {GPU0, GPU1}
    now = allocated(placement)
    assert now == {**MOVED, ALONE: {GPU1: {'VGPU': 1}}}
