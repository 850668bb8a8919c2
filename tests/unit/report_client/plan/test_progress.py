# SPDX-License-Identifier: Apache-2.0
"""What is left of a plan when one of its operations is refused, and intended."""

import dataclasses

import pytest
from call_counts import calls

from compute_agent.plan import allocations as alloc
from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import inventory, provider
from report_client import errors
from report_client.plan import progress

TWO, FOUR = inventory.Inventory(total=2), inventory.Inventory(total=4)
NO = errors.BadRequest('no')


def one(uuid='root', parent=None, generation=3, **contents):
    return provider.Provider(
        uuid=uuid,
        name=uuid,
        parent_uuid=parent,
        generation=generation,
        **contents,
    )


def begun(before, after, *, moves=(), without=()):
    """Return the run of what turns the one into the other."""
    snapshots = [provider.snapshot(some) for some in (before, after)]
    operations = diff.operations(*snapshots, moves=moves)
    made = Plan(node_uuid='root', operations=operations, before=snapshots[0])
    return progress.Progress(made, without)


def shrinking(*traits):
    """A provider that loses a class, relabelled, with one that stays."""
    return begun(
        [
            one(
                inventories={'VCPU': TWO, 'VGPU': TWO},
                traits=frozenset('A'),
            )
        ],
        [
            one(
                inventories={'VCPU': FOUR},
                traits=frozenset(traits),
                aggregates=frozenset('x'),
            )
        ],
    )


def refuse(going, kind):
    step = next(s for s in going.steps if isinstance(s.operation, kind))
    going.fail(step, NO)


def left(going):
    """The operations that were refused, or wait because of one."""
    return list(going.refused.values())


def left_behind(going):
    """What is left because of the first that is."""
    return [type(operation) for operation in left(going)[1:]]


def generations(going):
    return [intent.generation for intent in going.intend()]


def test_a_refused_inventory_keeps_the_labels_that_are_there():
    going = shrinking('B')
    refuse(going, ops.SetInventories)
    assert left_behind(going) == [ops.SetTraits, ops.SetInventories]


def test_a_refused_inventory_keeps_no_label_from_being_added():
    going = shrinking('A', 'B')
    refuse(going, ops.SetInventories)
    assert left_behind(going) == [ops.SetInventories]


def test_a_refused_reshape_keeps_the_labels_of_what_gives():
    consumer = alloc.Consumer(
        uuid='c',
        project_id='p',
        user_id='u',
        generation=1,
        allocations={'root': {'VGPU': 1}},
    )
    going = begun(
        [
            one(inventories={'VGPU': TWO}, traits=frozenset('A')),
            one('gpu', 'root'),
        ],
        [
            one(),
            one(
                'gpu',
                'root',
                inventories={'VGPU': TWO},
                traits=frozenset('A'),
            ),
        ],
        moves=(
            alloc.Move(consumer=consumer, allocations={'gpu': {'VGPU': 1}}),
        ),
    )
    refuse(going, ops.Reshape)
    kept = [operation.uuid for operation in left(going)]
    assert kept == ['root', 'root']  # the reshape itself, and what it loses


def test_each_write_intends_the_next_generation():
    assert generations(shrinking('B')) == [4, 5, 6, 7]


def test_after_a_refusal_the_rest_intends_what_it_leads_to_now():
    going = shrinking('A', 'B')
    going.intend()
    refuse(going, ops.SetInventories)
    assert generations(going) == [4, 5]


def test_what_was_done_and_what_may_have_been_stay_intended():
    going = shrinking('A', 'B')
    going.intend()
    shrink, traits, *_ = going.steps
    shrink.unsure = True
    going.fail(shrink, errors.ServerFault('odd'))
    assert generations(going) == [4, 4, 5]
    going.finish(traits, {'resource_provider_generation': 4})
    assert generations(going) == [4, 4, 5]


@pytest.mark.parametrize('number', range(4))
def test_what_was_refused_before_is_left_without_a_word(number):
    operation = shrinking('B').steps[number].operation
    plan_of = shrinking('B')
    going = progress.Progress(
        Plan(
            node_uuid='root',
            operations=tuple(s.operation for s in plan_of.steps),
            before=plan_of.providers,
        ),
        [operation],
    )
    failed = [s.operation for s in going.steps if s.failed]
    assert operation in failed
    assert left(going) == [one for one in failed if one != operation]


@pytest.mark.parametrize(
    ('create', 'needs'),
    [
        (ops.CreateTrait, ops.SetTraits),
        (ops.CreateResourceClass, ops.SetInventories),
    ],
)
def test_a_name_that_may_not_be_made_is_written_nowhere(create, needs):
    after = one(
        inventories={'CUSTOM_A': TWO},
        traits=frozenset({'CUSTOM_A'}),
        aggregates=frozenset('x'),
    )
    before = provider.snapshot([one()])
    operations = diff.operations(before, provider.snapshot([after]))
    going = progress.Progress(
        Plan(
            node_uuid='root',
            operations=(create(name='CUSTOM_A'), *operations),
            before=before,
        )
    )
    going.fail(going.steps[0], NO)
    assert needs in left_behind(going)
    assert ops.SetAggregates not in left_behind(going)


def test_what_stands_below_a_refused_provider_is_left_with_all_of_it():
    inside = {'inventories': {'VCPU': TWO}, 'traits': frozenset('A')}
    going = begun(
        [],
        [
            one('root', generation=None, **inside),
            one('child', 'root', generation=None, **inside),
        ],
    )
    going.intend()
    refuse(going, ops.CreateProvider)
    assert {o.uuid for o in left(going)} == {'root', 'child'}
    assert len(going.steps) == len(going.refused)
    assert going.intend() == []


def test_what_comes_before_a_write_that_was_refused_goes_all_the_same():
    """Capacity that is gone is not offered for a label's sake."""
    operations = shrinking('B').steps
    label = next(
        s.operation
        for s in operations
        if isinstance(s.operation, ops.SetTraits)
    )
    made = Plan(
        node_uuid='root',
        operations=tuple(s.operation for s in operations),
        before=shrinking('B').providers,
    )
    going = progress.Progress(made, [label])
    shrink, grow = (
        s for s in going.steps if isinstance(s.operation, ops.SetInventories)
    )
    assert (shrink.failed, grow.failed) == (False, True)


def test_a_refused_label_keeps_what_grows_and_no_other_label():
    going = shrinking('B')
    step = next(
        s for s in going.steps if isinstance(s.operation, ops.SetTraits)
    )
    for before in going.steps[: going.steps.index(step)]:
        before.done = True
    going.fail(step, NO)
    assert left_behind(going) == [ops.SetInventories]


@pytest.mark.parametrize('number', range(3))
def test_a_name_that_was_not_given_up_is_taken_by_nobody(number):
    """Whether a server that failed did it after all, nobody knows."""

    def named(a, b):
        return [
            one(),
            dataclasses.replace(one('a', 'root'), name=a),
            dataclasses.replace(one('b', 'root'), name=b),
        ]

    going = begun(named('one', 'two'), named('two', 'one'))
    for step in going.steps[:number]:
        going.finish(step, {'generation': 0})
    going.fail(going.steps[number], errors.ServerFault('500'))
    assert all(step.done or step.failed for step in going.steps)
    assert len(going.refused) == len(going.steps) - number


def tree(size):
    """A root with this many children, each with inventory."""
    children = (one(f'child-{n}', 'root') for n in range(size))
    return [one(), *children]


def done(before, after):
    """Carry out each step of what turns the one into the other."""
    going = begun(before, after)
    for step in going.provider_steps():
        going.finish(step, {'generation': 0})
    assert going.providers == provider.snapshot(after)


@pytest.mark.parametrize('kind', ['deletions', 'creations'])
def test_the_work_grows_in_step_with_the_steps(kind):
    """Each step neither searches nor copies the providers of the others."""

    def work(size):
        full, few = tree(size), [one()]
        if kind == 'deletions':
            return calls(lambda: done(full, few))
        return calls(lambda: done(few, full))

    small, large = work(100), work(400)
    assert large < 4.4 * small
