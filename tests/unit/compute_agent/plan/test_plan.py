# SPDX-License-Identifier: Apache-2.0
"""When a plan has nothing to send, to record or to report."""

import dataclasses

import pytest

from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import assertion

EMPTY = Plan(node_uuid='u', operations=(), before={}, notes=('a line',))
KEY = ('u', assertion.Kind.TRAIT)


def test_a_plan_that_only_has_notes_is_empty():
    assert EMPTY.is_empty() is True


@pytest.mark.parametrize(
    'more',
    [
        {'operations': (ops.CreateTrait(name='CUSTOM_A'),)},
        {'claims': {KEY: {'driver': frozenset('A')}}},
        {'faults': ('a line',)},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_plan_with_anything_else_is_not(more):
    assert dataclasses.replace(EMPTY, **more).is_empty() is False
