# SPDX-License-Identifier: Apache-2.0
"""When a plan of nothing may be taken for the next one."""

import dataclasses

import pytest

from compute_agent.ownership import record
from compute_agent.ownership.policy import Orders, Policy
from compute_agent.tree import provider
from report_client.observe import observation
from report_client.plan import diff, quiet

NODE = 'node'
SEEN = observation.Observation(
    node_uuid=NODE,
    providers={NODE: provider.Provider(uuid=NODE, name=NODE, generation=3)},
)
GROUNDS = quiet.Grounds(
    uuids=frozenset(),
    seen=SEEN,
    record=record.Record(),
    policy=Policy(node_uuid=NODE),
    said=([(NODE, NODE, None)], {}, [], [], []),
)
PLAN = diff.Plan(node_uuid=NODE, operations=(), before=SEEN.providers)


@pytest.fixture
def kept():
    made = quiet.Quiet()
    made.keep(GROUNDS, PLAN)
    return made


def test_the_same_grounds_give_the_same_plan(kept):
    again = dataclasses.replace(
        GROUNDS,
        policy=Policy(node_uuid=NODE),
        said=([(NODE, NODE, None)], {}, [], [], []),
    )
    assert kept.recall(again) is PLAN


@pytest.mark.parametrize(
    'other',
    [
        {'seen': dataclasses.replace(SEEN)},  # equal, but looked at again
        {'record': record.Record()},
        {'policy': Policy(node_uuid=NODE, orders=Orders(masked=('HW_*',)))},
        {'said': ([(NODE, 'other', None)], {}, [], [], [])},
    ],
    ids=['seen', 'record', 'policy', 'said'],
)
def test_on_other_grounds_there_is_none(kept, other):
    assert kept.recall(dataclasses.replace(GROUNDS, **other)) is None


def test_a_node_that_was_dropped_has_none(kept):
    kept.drop(NODE)
    kept.drop(NODE)
    assert kept.recall(GROUNDS) is None
