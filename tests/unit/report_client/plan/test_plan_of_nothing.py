# SPDX-License-Identifier: Apache-2.0
"""When a plan has nothing to do, to record or to wait for."""

import dataclasses

import pytest

from compute_agent.limits import contention
from compute_agent.tree import assertion
from report_client.operations import operations as ops
from report_client.plan import diff

EMPTY = diff.Plan(node_uuid='u', operations=(), before={}, notes=('a line',))
KEY = ('u', assertion.Kind.TRAIT)


def test_a_plan_that_only_says_something_is_quiet():
    assert EMPTY.is_quiet() is True


@pytest.mark.parametrize(
    'more',
    [
        {'operations': (ops.CreateTrait(name='CUSTOM_A'),)},
        {'claims': {KEY: {'driver': frozenset('A')}}},
        {'faults': ('a line',)},
        {'contended': (contention.Item(uuid='u', kind=None),)},
    ],
    ids=lambda more: next(iter(more)),
)
def test_whatever_else_is_in_it_makes_it_none(more):
    assert dataclasses.replace(EMPTY, **more).is_quiet() is False
