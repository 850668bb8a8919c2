# SPDX-License-Identifier: Apache-2.0
"""What an executor does where placement refuses, fails, or names another."""

import executing
import pytest
from executing import NODE, one, planned

from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Conflict
from compute_agent.tree import inventory
from report_client import errors as placement_errors
from report_client.apply import executor
from report_client.plan import render

TWO, FOUR = inventory.Inventory(total=2), inventory.Inventory(total=4)
REFUSED = placement_errors.BadRequest('HTTP 400: no')
FAULT = placement_errors.ServerFault('HTTP 500: odd')
TAKEN = placement_errors.NameTaken('HTTP 409: taken')
LEFT = 'not sent, because an operation that it depends on was refused'


@pytest.fixture
def bench():
    return executing.Bench()


def two_children():
    """Return a plan that gives each of two children what it lacks."""
    return planned(
        [
            one(generation=1),
            one('a', NODE, generation=1),
            one('b', NODE, generation=1),
        ],
        [
            one(),
            one('a', NODE, traits='A', inventories={'VCPU': TWO}),
            one('b', NODE, traits='A', inventories={'VCPU': TWO}),
        ],
    )


def lines(*some):
    return {f'{render.line(op)}: {why}': op for op, why in some}


def left(outcome):
    return tuple(outcome.refused.values())


@pytest.mark.parametrize('error', [REFUSED, FAULT])
def test_what_depends_on_a_refused_write_is_left_and_the_rest_goes_on(
    bench, error
):
    made = two_children()
    of_a, of_b, more_of_a, more_of_b = made.operations
    bench.faults['a/traits'] = error
    assert bench.executor.apply(made) == executor.Outcome(
        applied=(of_b, more_of_b),
        refused=lines((of_a, error), (more_of_a, LEFT)),
    )
    assert bench.sent() == [
        'PUT a/traits 1',
        'PUT b/traits 1',
        'PUT b/inventories 2',
    ]


def test_a_refusal_before_the_end_is_told_with_the_end(bench):
    made = two_children()
    of_a, of_b, more_of_a, _ = made.operations
    bench.faults['a/traits'] = REFUSED
    moved = placement_errors.Conflict('moved')
    bench.faults['b/inventories'] = moved
    assert bench.executor.apply(made) == executor.Outcome(
        applied=(of_b,),
        refused=lines((of_a, REFUSED), (more_of_a, LEFT)),
        conflicts=(Conflict(error=moved, subject='b', is_at_home=True),),
    )


@pytest.mark.parametrize(
    ('error', 'still'),
    [(REFUSED, ['b', 'b']), (FAULT, ['a', 'b', 'b'])],
    ids=['refused', 'perhaps done'],
)
def test_what_was_refused_is_not_intended_any_more(bench, error, still):
    bench.faults['a/traits'] = error
    bench.executor.apply(two_children())
    _, (_, intents, _) = bench.of('begin')
    assert sorted(intent.uuid for intent in intents) == still
    ((done, dropped, _, _),) = bench.of('settle')
    assert [intent.uuid for intent in done] == ['b', 'b']
    assert dropped == []


def test_after_a_refusal_what_is_left_leads_elsewhere_and_is_intended_anew(
    bench,
):
    made = planned(
        [one(generation=1, inventories={'VCPU': TWO, 'VGPU': TWO})],
        [one(inventories={'VCPU': TWO}, traits='A', aggregates='x')],
        claims={'any': 'thing'},
    )
    bench.faults['root/inventories'] = REFUSED
    bench.executor.apply(made)
    first, second = bench.of('begin')
    assert [i.generation for i in first[1]] == [2, 3, 4]
    assert [i.generation for i in second[1]] == [2, 3]
    assert (first[0], second[0]) == (NODE, NODE)
    assert second[2] == {}  # who holds what was recorded with the first
    assert [word for word, *_ in bench.done][:3] == ['begin', 'send', 'begin']


def test_what_was_refused_before_is_left_with_what_depends_on_it(bench):
    made = two_children()
    of_a, of_b, more_of_a, more_of_b = made.operations
    assert bench.executor.apply(made, without=[of_a]) == executor.Outcome(
        applied=(of_b, more_of_b),
        refused=lines((more_of_a, LEFT)),
    )
    assert bench.sent() == ['PUT b/traits 1', 'PUT b/inventories 2']
    ((_, intents, _), *_) = bench.of('begin')
    assert {intent.uuid for intent in intents} == {'b'}


# --- failing inside -----------------------------------------------------------


def test_placement_failing_for_three_providers_in_a_row_is_an_outage(bench):
    children = [one(u, NODE, generation=1) for u in 'abcd']
    made = planned(
        [one(generation=1), *children],
        [one(), *(one(u, NODE, traits='A') for u in 'abcd')],
    )
    bench.faults = {f'{uuid}/traits': FAULT for uuid in 'abcd'}
    outcome = bench.executor.apply(made)
    assert isinstance(outcome.ended_by, placement_errors.Unreachable)
    assert len(bench.sent()) == 3
    assert left(outcome) == made.operations[:3]


def test_placement_failing_for_one_provider_under_many_names_is_none(bench):
    bench.faults['a/traits'] = FAULT
    for name in ('first', 'second', 'third', 'fourth'):
        made = planned(
            [one(generation=1), one('a', NODE, generation=1, name=name)],
            [one(), one('a', NODE, name=name, traits='A')],
        )
        assert left(bench.executor.apply(made)) == made.operations


def test_placement_failing_for_three_names_is_an_outage(bench):
    creations = [ops.CreateTrait(name=f'CUSTOM_{n}') for n in 'ABCD']
    bench.faults = {op.name: FAULT for op in creations}
    outcome = bench.executor.apply(planned([], [], *creations))
    assert isinstance(outcome.ended_by, placement_errors.Unreachable)
    assert len(bench.sent()) == 3


# --- names of providers -------------------------------------------------------


def row(uuid, name='child'):
    return {
        'uuid': uuid,
        'name': name,
        'generation': 0,
        'parent_provider_uuid': None,
        'root_provider_uuid': uuid,
    }


def with_a_child():
    """Return a plan that creates a child."""
    return planned(
        [one(generation=1)], [one(), one('u', NODE, name='a child')]
    )


def renaming():
    """Return a plan that gives a child another name."""
    return planned(
        [one(generation=1), one('u', NODE, name='old', generation=1)],
        [one(), one('u', NODE, name='a child')],
    )


@pytest.mark.parametrize(
    ('made', 'end'),
    [(with_a_child, 'resource_providers'), (renaming, 'u')],
)
def test_a_name_that_another_has_is_refused_and_says_whose_it_is(
    bench, made, end
):
    bench.faults[end] = TAKEN
    bench.rows = [row('u'), row('other')]
    (line,) = bench.executor.apply(made()).refused
    said = placement_errors.NameTaken.of_child('other', 'other', 'a child')
    assert line.endswith(str(said))
    assert bench.of('get') == [['/resource_providers?name=a+child']]


@pytest.mark.parametrize(
    ('made', 'end'),
    [(with_a_child, 'resource_providers'), (renaming, 'u')],
)
def test_a_name_that_is_our_own_means_it_is_there_and_was_not_seen(
    bench, made, end
):
    bench.faults[end] = TAKEN
    bench.rows = [row('u')]
    (conflict,) = bench.executor.apply(made()).conflicts
    assert isinstance(conflict.error, placement_errors.Exists)
    assert str(conflict.error) == 'a child (u) exists already'
    assert conflict.error.uuid == 'u'
    assert conflict.error.__cause__ is TAKEN


def test_a_name_that_nobody_has_any_more_means_another_look(bench):
    bench.faults['resource_providers'] = TAKEN
    (conflict,) = bench.executor.apply(with_a_child()).conflicts
    assert isinstance(conflict.error, placement_errors.Exists)


def test_a_name_taken_where_none_is_given_is_a_refusal(bench):
    bench.faults['a/traits'] = TAKEN
    refused = list(bench.executor.apply(two_children()).refused)
    assert refused[0].endswith(f': {TAKEN}')
    assert bench.of('get') == []


def test_what_is_gone_already_counts_as_deleted(bench):
    made = planned([one(generation=1)], [])
    bench.faults[NODE] = placement_errors.NotFound('gone')
    assert bench.executor.apply(made).applied == made.operations
    assert bench.of('settle')[0][3] == {NODE}


# --- names of traits and classes ----------------------------------------------

TRAIT = ops.CreateTrait(name='CUSTOM_A')
RESOURCE_CLASS = ops.CreateResourceClass(name='CUSTOM_B')


def named(*first):
    """Return a plan that needs both names."""
    return planned(
        [one(generation=1)],
        [one(traits=['CUSTOM_A'], inventories={'CUSTOM_B': TWO})],
        *first,
    )


def test_names_are_created_first_and_remembered(bench):
    made = named(TRAIT, RESOURCE_CLASS)
    outcome = bench.executor.apply(made)
    assert bench.sent() == [
        'PUT CUSTOM_A',
        'PUT CUSTOM_B',
        'PUT root/traits 1',
        'PUT root/inventories 2',
    ]
    assert outcome.applied == made.operations
    assert bench.of('learn') == [[{'CUSTOM_A'}, {'CUSTOM_B'}]]


@pytest.mark.parametrize(
    ('there', 'sent', 'learnt'),
    [
        (({'CUSTOM_A'}, set()), 'CUSTOM_B', [[set(), {'CUSTOM_B'}]]),
        ((set(), {'CUSTOM_B'}), 'CUSTOM_A', [[{'CUSTOM_A'}, set()]]),
        (({'CUSTOM_B'}, {'CUSTOM_B'}), 'CUSTOM_A', [[{'CUSTOM_A'}, set()]]),
    ],
)
def test_a_name_that_was_created_meanwhile_is_not_created_again(
    bench, there, sent, learnt
):
    traits, classes = map(frozenset, there)
    bench.known = diff.names.KnownNames(
        traits=traits, resource_classes=classes
    )
    outcome = bench.executor.apply(named(TRAIT, RESOURCE_CLASS))
    assert bench.sent()[:2] == [f'PUT {sent}', 'PUT root/traits 1']
    assert bench.of('learn') == learnt
    assert outcome.applied[0].name == sent
    assert left(outcome) == ()


def test_where_all_were_created_meanwhile_nothing_is_remembered(bench):
    bench.known = diff.names.KnownNames(
        traits=frozenset({'CUSTOM_A'}),
        resource_classes=frozenset({'CUSTOM_B'}),
    )
    bench.executor.apply(named(TRAIT, RESOURCE_CLASS))
    assert bench.sent() == ['PUT root/traits 1', 'PUT root/inventories 2']
    assert bench.of('learn') == []


def test_a_plan_that_needs_no_name_asks_for_none(bench):
    bench.executor.apply(named())
    assert bench.of('remember') == []


def test_a_refused_name_is_not_remembered_and_not_used(bench):
    bench.faults['CUSTOM_A'] = REFUSED
    made = named(TRAIT, RESOURCE_CLASS)
    outcome = bench.executor.apply(made)
    _, _, traits, inventories = made.operations
    assert bench.of('learn') == [[set(), {'CUSTOM_B'}]]
    assert left(outcome) == (TRAIT, traits, inventories)
    assert outcome.refused == lines(
        (TRAIT, REFUSED), (traits, LEFT), (inventories, LEFT)
    )


# --- what depends on what depends on it ---------------------------------------


def three_generations():
    """Return a plan that creates a node, a child and one below that."""
    return planned(
        [],
        [
            one(traits='A'),
            one('a', NODE, traits='A', inventories={'VCPU': TWO}),
            one('b', 'a', aggregates='x'),
        ],
    )


@pytest.mark.parametrize('error', [REFUSED, FAULT])
def test_without_a_provider_nothing_below_it_is_sent_or_intended(bench, error):
    made = three_generations()
    bench.faults['resource_providers'] = error
    assert left(bench.executor.apply(made)) == made.operations
    assert bench.sent() == ['POST resource_providers']
    _, (_, intents, _) = bench.of('begin')
    assert {intent.uuid for intent in intents} <= {NODE}


def test_without_a_provider_refused_before_nothing_below_it_is_intended(bench):
    made = three_generations()
    _, child, *_ = made.operations
    bench.executor.apply(made, without=[child])
    assert bench.sent() == ['POST resource_providers', 'PUT root/traits 0']
    ((_, intents, _),) = bench.of('begin')
    assert [intent.uuid for intent in intents] == [NODE, NODE]
