# SPDX-License-Identifier: Apache-2.0
"""While allocations are moved others write, and the agent is cut off."""

import contextlib
import itertools
import shutil

import pytest
import requests
from agents import NODE, meddle
from vgpu_cloud import (
    ALONE,
    ELSEWHERE,
    GPU0,
    GPU1,
    LATE,
    MOVED,
    RESHAPE,
    SHARE,
    TWO_NODES,
    WITH_DISK,
    Mover,
    allocate,
    allocated,
    build,
    check,
    reshapes,
)

from compute_agent import errors
from compute_agent.cycle import resource_tracker

Status = resource_tracker.Status


@pytest.mark.parametrize(
    'parts',
    [
        {NODE: {'VGPU': 1}},
        {NODE: {'VCPU': 1}},
        {NODE: {'VGPU': 1}, SHARE: {'DISK_GB': 1}},
    ],
    ids=str,
)
def test_what_is_allocated_before_it_is_sent_moves_as_well(
    placement, agent_factory, operator, vgpus_in_use, parts
):
    meddle(placement, lambda: allocate(placement, LATE, parts), RESHAPE)
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)
    assert [r.status for r in reshapes(placement)] == [409, 204]
    late = allocated(placement, LATE)[LATE]
    assert late == {
        (GPU0 if 'VGPU' in some else uuid): some
        for uuid, some in parts.items()
    }


def test_a_consumer_that_gets_more_elsewhere_keeps_it(
    placement, agent_factory, operator, vgpus_in_use
):
    def more():
        body = placement.get(f'/allocations/{WITH_DISK}')
        body['allocations'][SHARE]['resources']['DISK_GB'] = 20
        for part in body['allocations'].values():
            del part['generation']
        placement.put(f'/allocations/{WITH_DISK}', body)

    meddle(placement, more, RESHAPE)
    agent_factory(Mover(), state=vgpus_in_use).done()
    now = allocated(placement, WITH_DISK)[WITH_DISK]
    assert now == {**MOVED[WITH_DISK], SHARE: {'DISK_GB': 20}}


@pytest.mark.parametrize(
    'when', [RESHAPE, f'GET /allocations/{ALONE}'], ids=['sent', 'read']
)
def test_a_consumer_that_is_gone_by_then_is_not_made_again(
    placement, agent_factory, operator, vgpus_in_use, when
):
    meddle(placement, lambda: placement.delete(f'/allocations/{ALONE}'), when)
    agent_factory(Mover(), state=vgpus_in_use).done()
    assert allocated(placement) == {
        ALONE: {},
        WITH_DISK: MOVED[WITH_DISK],
        TWO_NODES: {GPU0: {'VGPU': 2}, ELSEWHERE: {'MEMORY_MB': 512}},
    }


def test_a_provider_that_moves_while_the_allocations_are_read_is_read_again(
    placement, agent_factory, operator, vgpus_in_use
):
    meddle(
        placement,
        lambda: operator.add_traits('CUSTOM_OTHERS'),
        f'GET /resource_providers/{NODE}/allocations',
    )
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)
    assert 'CUSTOM_OTHERS' in operator.traits()
    assert len(reshapes(placement)) == 1


def test_a_child_that_is_deleted_by_then_is_made_again(
    placement, agent_factory, operator, vgpus_in_use
):
    meddle(placement, lambda: operator.delete(GPU1), RESHAPE)
    agent_factory(Mover(), state=vgpus_in_use).done()
    check(placement, operator)
    assert [r.status for r in reshapes(placement)] == [400, 204]


class Killed(BaseException):
    """The process is no more; nothing of it handles that."""


@pytest.mark.parametrize(
    ('after_commit', 'kind'),
    [
        (True, Killed),
        pytest.param(False, Killed, marks=pytest.mark.long),
        pytest.param(True, requests.ReadTimeout, marks=pytest.mark.long),
        pytest.param(False, requests.ReadTimeout, marks=pytest.mark.long),
    ],
)
def test_wherever_it_is_cut_all_is_moved_in_the_end(
    placement, agent_factory, operator, tmp_path, kind, after_commit
):
    for number in range(5):
        placement.reset()
        state = tmp_path / str(number)
        kept = build(placement, agent_factory, operator, state)
        left = cut(
            placement,
            agent_factory(Mover(), state=kept),
            (number, kind, after_commit),
            state,
        )
        where = f'cut at {placement.writes[-1]}'
        again = agent_factory(Mover(), state=left)
        (result,) = again.done()
        assert not any('interrupted' in note for note in result.notes), where
        check(placement, operator)
        placement.clear()
        again.done()
        assert placement.writes == [], where


def test_a_cut_reshape_is_known_for_what_it_was(
    placement, agent_factory, operator, vgpus_in_use
):
    """The generations it leads to are foretold: no note of a doubt."""
    placement.fault(RESHAPE, requests.ReadTimeout, after_commit=True)
    agent = agent_factory(Mover(), state=vgpus_in_use)
    assert agent.cycle().status is Status.FAILED
    check(placement, operator)
    placement.clear()
    (result,) = agent.done()
    assert not result.notes
    assert placement.writes == []
    record = agent.state.records.record([NODE, GPU0], NODE)
    assert record.ours[GPU0, 'inventory'] == {'VGPU'}
    assert 'VGPU' not in record.ours.get((NODE, 'inventory'), ())


def cut(placement, agent, fault, state):
    """Cut the agent's cycle at one of its writes; return the state left."""
    number, kind, after_commit = fault
    left = state.with_name(f'{state.name}-left')
    counted = itertools.count()

    def is_write(request):
        return request.method != 'GET'

    def keep(request):
        if is_write(request) and next(counted) == number:
            shutil.copytree(state, left)

    placement.before_request(keep)
    injected = placement.fault(
        is_write, kind, skip=number, after_commit=after_commit
    )
    with contextlib.suppress(Killed, errors.AgentError):
        agent.sync()
    assert injected.hits == 1
    placement.mend()
    agent.state.close()
    return left if kind is Killed else state
