# SPDX-License-Identifier: Apache-2.0
"""When the record learns of a creation that other agents may do too."""

import executing
import pytest
from executing import NODE, one, planned

from compute_agent.tree import inventory
from report_client import errors as placement_errors

MARK = 'CUSTOM_COMPUTE_AGENT_RACK1_0123456789AB'
TWO = inventory.Inventory(total=2)
TRAITS = f'{NODE}/traits'


@pytest.fixture
def bench():
    return executing.Bench()


def created(*traits):
    """Return the plan of a new root with inventory."""
    return planned([], [one(traits=traits, inventories={'VCPU': TWO})])


def order(bench):
    """Return what was sent and recorded, in order."""
    return [
        (word, *map(executing.end, rest[:1])) if word == 'send' else (word,)
        for word, *rest in bench.done
        if word in ('send', 'settle')
    ]


SENT = [
    ('send', 'resource_providers'),
    ('send', TRAITS),
    ('send', f'{NODE}/inventories'),
]


def test_a_root_that_gets_the_mark_next_is_recorded_at_the_end(bench):
    bench.executor.apply(created(MARK, 'CUSTOM_A'))
    assert order(bench) == [*SENT, ('settle',)]
    assert bench.late == [True]


@pytest.mark.catches('a creation that nothing shows is recorded at the end')
def test_any_other_is_recorded_before_the_next_write(bench):
    bench.executor.apply(created('CUSTOM_A'))
    assert order(bench) == [SENT[0], ('settle',), *SENT[1:], ('settle',)]
    assert bench.late == [False, True]


@pytest.mark.catches('a creation whose mark was refused may be lost')
@pytest.mark.parametrize(
    'fault', [placement_errors.BadRequest, placement_errors.ServerFault]
)
def test_a_mark_that_was_refused_shows_nothing(bench, fault):
    bench.faults[TRAITS] = fault('no')
    bench.executor.apply(planned([], [one(traits=[MARK], aggregates='x')]))
    aggregates = ('send', f'{NODE}/aggregates')
    assert order(bench) == [*SENT[:2], ('settle',), aggregates, ('settle',)]
    assert bench.late == [False, True]


@pytest.mark.parametrize(
    'fault',
    [
        placement_errors.BadRequest,
        placement_errors.Conflict,
        placement_errors.Unreachable,
    ],
)
def test_what_ends_the_plan_before_the_mark_is_recorded_for_good(bench, fault):
    bench.faults[TRAITS] = fault('no')
    bench.executor.apply(created(MARK))
    assert order(bench) == [*SENT[:2], ('settle',)]
    assert bench.late == [False]


def test_a_root_without_anything_is_recorded_for_good(bench):
    bench.executor.apply(planned([], [one()]))
    assert order(bench) == [SENT[0], ('settle',)]
    assert bench.late == [False]
