# SPDX-License-Identifier: Apache-2.0
"""What a plan's operations are sent with, and what is written down of them."""

import logging

import executing
import pytest
from executing import NODE, one, planned

from compute_agent import errors
from compute_agent.plan import allocations as alloc
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import assertion, inventory, provider
from report_client import errors as placement_errors
from report_client.apply import executor
from report_client.plan import render

TWO, FOUR = inventory.Inventory(total=2), inventory.Inventory(total=4)
HELD = {(NODE, assertion.Kind.TRAIT): {'driver': frozenset('A')}}


@pytest.fixture
def bench():
    return executing.Bench()


def grown():
    """Return a plan of three writes to a provider at generation 7."""
    return planned(
        [one(generation=7, inventories={'VCPU': TWO})],
        [one(inventories={'VCPU': FOUR}, traits='A', aggregates='x')],
        claims=HELD,
    )


def reshaping(**labels):
    """Return a plan that moves what a consumer has, and then something."""
    consumer = alloc.Consumer(
        uuid='c',
        project_id='p',
        user_id='u',
        generation=1,
        allocations={NODE: {'VGPU': 1}},
    )
    return planned(
        [
            one(generation=7, inventories={'VGPU': TWO}),
            one('gpu', NODE, generation=2),
            one('old', NODE, generation=3),
        ],
        [one(), one('gpu', NODE, inventories={'VGPU': TWO}, **labels)],
        moves=(
            alloc.Move(consumer=consumer, allocations={'gpu': {'VGPU': 1}}),
        ),
    )


def test_each_write_carries_the_generation_of_the_answer_before(bench):
    bench.executor.apply(grown())
    assert bench.sent() == [
        'PUT root/traits 7',
        'PUT root/aggregates 8',
        'PUT root/inventories 9',
    ]


def test_what_is_created_is_written_to_at_the_generation_it_came_with(bench):
    plan = planned([], [one(traits='A'), one('child', NODE, traits='A')])
    outcome = bench.executor.apply(plan)
    assert bench.sent() == [
        'POST resource_providers',
        'POST resource_providers',
        'PUT root/traits 0',
        'PUT child/traits 0',
    ]
    assert outcome == executor.Outcome(applied=plan.operations)


def test_the_creation_of_a_root_is_recorded_before_anything_else_is_sent(
    bench,
):
    plan = planned([], [one(traits='A'), one('child', NODE, traits='A')])
    bench.executor.apply(plan)
    words = [word for word, *_ in bench.done]
    assert words == ['begin', 'send', 'settle', *['send'] * 3, 'settle']
    (first, _, readings, gone), (rest, *_) = bench.of('settle')
    assert [(i.uuid, i.kind) for i in first] == [(NODE, None)]
    assert (readings, gone) == ([], set())
    trait = assertion.Kind.TRAIT
    assert [(i.uuid, i.kind) for i in rest] == [
        ('child', None),
        (NODE, trait),
        ('child', trait),
    ]


@pytest.mark.parametrize('place', [None, 'pool', 'unknown'])
def test_a_creation_elsewhere_that_meets_the_same_uuid_is_not_ours(
    bench, place
):
    """The answer is 409, so it was another agent's that placement has."""
    pool = one('pool', generation=1)
    before = [one(generation=1), *([pool] if place == 'pool' else [])]
    new = ops.CreateProvider(uuid='new', name='new', parent_uuid=place)
    plan = Plan(
        node_uuid=NODE, operations=(new,), before=provider.snapshot(before)
    )
    bench.faults['resource_providers'] = placement_errors.NameTaken('taken')
    bench.rows = [
        {
            'uuid': 'new',
            'name': 'new',
            'generation': 0,
            'parent_provider_uuid': None,
            'root_provider_uuid': 'new',
        }
    ]
    (conflict,) = bench.executor.apply(plan).conflicts
    assert isinstance(conflict.error, placement_errors.Exists)
    (_, first, _), (_, last, _) = bench.of('begin')
    assert ([i.uuid for i in first], last) == (['new'], [])
    ((done, dropped, *_),) = bench.of('settle')
    assert (done, dropped) == ([], [])
    assert bench.of('watch') == [[NODE, 'new']]


def test_all_of_a_plan_is_written_down_before_anything_is_sent(bench):
    bench.executor.apply(grown())
    (node, intents, held), *more = bench.of('begin')
    assert bench.done[0][0] == 'begin'
    assert not more
    assert (node, held) == (NODE, HELD)
    assert [(i.kind, i.generation) for i in intents] == [
        (assertion.Kind.TRAIT, 8),
        (assertion.Kind.AGGREGATE, 9),
        (assertion.Kind.INVENTORY, 10),
    ]
    assert {i.node_uuid for i in intents} == {NODE}


def test_what_was_done_is_recorded_with_what_is_there_now(bench):
    bench.executor.apply(grown())
    ((_, intents, _),) = bench.of('begin')
    ((done, dropped, (reading,), gone),) = bench.of('settle')
    assert bench.done[-1][0] == 'settle'
    assert (done, dropped, gone) == (intents, [], set())
    assert (reading.read_at, reading.root_uuid) == (executing.NOW, NODE)
    assert reading.provider.generation == 10
    assert reading.provider == one(
        inventories={'VCPU': FOUR}, traits='A', aggregates='x'
    )


def test_what_was_deleted_is_recorded_as_gone(bench):
    gone = planned([one(generation=1), one('child', NODE, generation=1)], [])
    bench.executor.apply(gone)
    assert bench.sent() == ['DELETE child', 'DELETE root']
    assert bench.of('settle') == [[[], [], [], {'child', NODE}]]


def test_a_plan_of_nothing_writes_nothing_down(bench):
    assert bench.executor.apply(planned([], [])) == executor.Outcome(
        applied=()
    )
    assert bench.done == []


def test_who_holds_what_is_written_down_though_nothing_is_sent(bench):
    outcome = bench.executor.apply(planned([], [], claims=HELD))
    assert outcome == executor.Outcome(applied=())
    assert bench.done == [
        ('begin', NODE, [], HELD),
        ('settle', [], [], [], set()),
    ]


def test_a_line_is_logged_for_each_operation_that_was_done(bench, caplog):
    caplog.set_level(logging.INFO)
    plan = grown()
    bench.faults['root/aggregates'] = placement_errors.BadRequest('no')
    bench.executor.apply(plan)
    traits, _, _ = plan.operations
    assert caplog.messages == [render.line(traits)]


def test_nothing_is_sent_after_a_reshape(bench):
    plan = reshaping(traits='A')
    outcome = bench.executor.apply(plan)
    assert isinstance(outcome.ended_by, placement_errors.Reshaped)
    assert 'observed again before anything' in str(outcome.ended_by)
    traits, reshape, _ = plan.operations
    assert isinstance(reshape, ops.Reshape)
    assert bench.sent() == ['PUT gpu/traits 2', 'POST reshaper']
    assert outcome.applied == (traits, reshape)
    assert (outcome.refused, outcome.conflicts) == ({}, ())
    assert bench.of('settle')[0][3] == set()


def test_a_reshape_carries_the_generations_of_the_answers_before(bench):
    outcome = bench.executor.apply(reshaping(traits='A'))
    assert isinstance(outcome.ended_by, placement_errors.Reshaped)
    request = bench.of('send')[-1][0]
    assert {
        uuid: part['resource_provider_generation']
        for uuid, part in request.body['inventories'].items()
    } == {NODE: 7, 'gpu': 3}


def test_after_a_refused_reshape_the_rest_goes_on(bench):
    bench.faults['reshaper'] = placement_errors.BadRequest('no')
    outcome = bench.executor.apply(reshaping())
    assert bench.sent() == ['POST reshaper', 'DELETE old']
    assert [type(op) for op in outcome.refused.values()] == [ops.Reshape]


@pytest.mark.parametrize(
    'error',
    [
        placement_errors.Conflict('moved'),
        placement_errors.Unreachable('away'),
        placement_errors.NotFound('gone'),
        placement_errors.UnknownName('no such trait'),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_ends_a_cycle_says_what_was_done_until_then(bench, error):
    plan = grown()
    bench.faults['root/aggregates'] = error
    outcome = bench.executor.apply(plan)
    met = [outcome.ended_by, *(c.error for c in outcome.conflicts)]
    assert error in met
    assert outcome.applied == plan.operations[:1]
    assert outcome.refused == {}
    assert bench.sent() == ['PUT root/traits 7', 'PUT root/aggregates 8']


@pytest.mark.catches('after a failed write nothing is recorded as done')
def test_what_was_sent_and_not_answered_stays_intended(bench):
    bench.faults['root/aggregates'] = placement_errors.Unreachable('away')
    outcome = bench.executor.apply(grown())
    assert isinstance(outcome.ended_by, errors.Unavailable)
    ((_, (traits, _, inventories), _),) = bench.of('begin')
    ((done, dropped, readings, gone),) = bench.of('settle')
    assert (done, dropped) == ([traits], [inventories])
    assert (readings, gone) == ([], set())


def test_what_a_mistake_in_the_agent_ends_is_recorded_as_well(bench):
    bench.faults['root/aggregates'] = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        bench.executor.apply(grown())
    ((done, dropped, _, _),) = bench.of('settle')
    assert (len(done), len(dropped)) == (1, 1)


def test_an_answer_that_makes_no_sense_leaves_it_open_what_was_done(bench):
    bench.answers['root/aggregates'] = {'generation': 'many'}
    outcome = bench.executor.apply(grown())
    assert isinstance(outcome.ended_by, errors.UnknownState)
    ((done, dropped, readings, _),) = bench.of('settle')
    assert (len(done), len(dropped), readings) == (1, 1, [])
