# SPDX-License-Identifier: Apache-2.0
"""When a plan that was not sent may be taken for the next one."""

import dataclasses

import pytest

from compute_agent.cycle.planning import empty_plans, node_plan
from compute_agent.ownership import record
from compute_agent.ownership.policy import Orders, Policy
from compute_agent.plan.observation import Observation
from compute_agent.plan.plan import Plan
from compute_agent.tree import assertion, provider
from compute_agent.tree.node import Node

NODE = 'node'
TRAIT = assertion.Kind.TRAIT
SEEN = Observation(
    node_uuid=NODE,
    providers={NODE: provider.Provider(uuid=NODE, name=NODE, generation=3)},
)
BASIS = empty_plans.Basis(
    node=Node(uuid=NODE, name=NODE),
    facts=empty_plans.KeptFacts({'driver': 'AVX'}),
    edition=1,
    uuids=frozenset({NODE}),
    seen=SEEN,
    record=record.Record(),
    policy=Policy(),
    description=([(NODE, NODE, None)], {}, [], [], []),
)
PLAN = node_plan.NodePlan(
    plan=Plan(node_uuid=NODE, operations=(), before=SEEN.providers)
)


@pytest.fixture
def kept():
    made = empty_plans.EmptyPlans()
    made.keep(BASIS, PLAN)
    return made


def test_equal_inputs_lead_to_the_same_plan():
    again = dataclasses.replace(
        BASIS,
        policy=Policy(),
        description=([(NODE, NODE, None)], {}, [], [], []),
    )
    assert BASIS.leads_to_the_plan_of(again)


def test_facts_and_files_count_only_as_far_as_they_are_described():
    other = dataclasses.replace(
        BASIS, facts=empty_plans.KeptFacts({'driver': 'AVX2'}), edition=2
    )
    assert BASIS.leads_to_the_plan_of(other)


@pytest.mark.parametrize(
    'other',
    [
        {'seen': dataclasses.replace(SEEN)},  # equal, but observed again
        {'record': record.Record()},
        {'policy': Policy(orders=Orders(masked=('HW_*',)))},
        {'description': ([(NODE, 'other', None)], {}, [], [], [])},
        {'description': None},
    ],
    ids=lambda other: next(iter(other)),
)
def test_other_inputs_do_not(other):
    assert not BASIS.leads_to_the_plan_of(dataclasses.replace(BASIS, **other))


def test_a_plan_is_taken_once(kept):
    taken = kept.take(NODE)
    assert (taken.basis, taken.made) == (BASIS, PLAN)
    assert kept.take(NODE) is None


def test_the_plans_of_other_nodes_are_forgotten(kept):
    kept.keep_only([NODE])
    assert kept.take(NODE) is not None
    kept.keep(BASIS, PLAN)
    kept.keep_only(['other'])
    assert kept.take(NODE) is None


# --- a plan that is reused ----------------------------------------------------


def seen_with(**fields):
    """Return the observation with other fields of its provider."""
    one = dataclasses.replace(SEEN.providers[NODE], **fields)
    return dataclasses.replace(SEEN, providers={NODE: one})


@pytest.mark.parametrize(
    ('seen', 'holds'),
    [
        (SEEN, True),
        (seen_with(generation=4), True),  # an allocation
        (seen_with(generation=4, traits=frozenset({'A'})), False),
        (dataclasses.replace(SEEN, fresh=frozenset({(NODE, TRAIT)})), False),
    ],
    ids=['same', 'generation', 'contents', 'fresh'],
)
def test_an_empty_plan_holds_for_equal_providers(seen, holds):
    kept = empty_plans.EmptyPlan(basis=BASIS, made=PLAN)
    now = seen, record.Record(), Policy()
    assert kept.holds_for(*now) is holds


def test_an_empty_plan_does_not_hold_for_another_record_or_policy():
    kept = empty_plans.EmptyPlan(basis=BASIS, made=PLAN)
    policy = Policy()
    other = record.Record(created=frozenset({NODE}))
    masking = Policy(orders=Orders(masked=('HW_*',)))
    assert not kept.holds_for(SEEN, other, policy)
    assert not kept.holds_for(SEEN, BASIS.record, masking)


@pytest.mark.catches('a plan that waits is reused with old generations')
def test_a_plan_that_waits_holds_for_its_own_observation_only():
    faulty = dataclasses.replace(PLAN.plan, faults=('waits',))
    waiting = dataclasses.replace(PLAN, plan=faulty)
    kept = empty_plans.EmptyPlan(basis=BASIS, made=waiting)
    now = BASIS.record, BASIS.policy
    assert kept.holds_for(SEEN, *now)
    assert not kept.holds_for(seen_with(generation=4), *now)


# --- facts --------------------------------------------------------------------


def facts(**more):
    """Return facts of the same values, in new objects."""
    return {'driver': {'cpus': 8, 'traits': ['AVX', 'SSE'], **more}}


def never(_kept, _facts):
    raise AssertionError('plain data is compared as text')


def test_equal_plain_data_is_the_same_facts():
    assert empty_plans.KeptFacts(facts()).are(facts(), never)


@pytest.mark.catches('facts are compared with themselves')
def test_facts_that_the_driver_changed_in_place_are_others():
    first = facts()
    kept = empty_plans.KeptFacts(first)
    first['driver']['traits'].append('AVX2')
    assert not kept.are(first, never)


@pytest.mark.parametrize(
    'other',
    [facts(cpus=9), facts(more=1), {}, {'another': facts()['driver']}],
    ids=['value', 'key', 'none', 'source'],
)
def test_other_plain_data_is_other_facts(other):
    assert not empty_plans.KeptFacts(facts()).are(other, never)


def test_plain_data_is_not_the_object_that_was_kept():
    kept = empty_plans.KeptFacts({'driver': Findings(cpus=8)})
    assert kept.are({'driver': Findings(cpus=8)}, dict.__eq__)
    assert not kept.are({'driver': Findings(cpus=9)}, dict.__eq__)
    assert not kept.are(facts(), dict.__eq__)


def test_an_object_is_not_the_plain_data_that_was_kept():
    kept = empty_plans.KeptFacts(facts())
    assert not kept.are({'driver': Findings(cpus=8)}, never)


@dataclasses.dataclass(frozen=True)
class Findings:
    cpus: int
