# SPDX-License-Identifier: Apache-2.0
"""The mark of an agent as a trait, and other agents' marks among traits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compute_agent.fleet.values import mark, share

AGENT, OTHER = '0123456789AB', 'BA9876543210'
OWN = mark.Mark.of('ironic:shard=rack1', AGENT)


def test_it_has_the_share_in_the_grammar_of_traits():
    assert OWN.trait == f'CUSTOM_COMPUTE_AGENT_IRONIC_SHARD_RACK1_{AGENT}'
    assert str(OWN) == f'share IRONIC_SHARD_RACK1, agent {AGENT}'


@given(
    name=st.from_regex(
        r'[A-Za-z0-9][A-Za-z0-9_.:=,+%@-]{0,199}', fullmatch=True
    )
)
def test_each_share_makes_a_mark_that_is_read_back(name):
    made = mark.Mark.of(share.check(name), AGENT)

    assert len(made.trait) <= 255
    assert mark.parse(made.trait) == made


@pytest.mark.parametrize(
    'trait',
    [
        'COMPUTE_NODE',
        'CUSTOM_COMPUTE_AGENT',
        f'CUSTOM_COMPUTE_AGENT_{AGENT}',
        'CUSTOM_COMPUTE_AGENT_RACK_1',
        f'CUSTOM_COMPUTE_AGENT_RACK_{AGENT}_1',
    ],
)
def test_other_traits_are_no_marks(trait):
    assert mark.parse(trait) is None


def test_only_other_agents_marks_are_others():
    theirs = mark.Mark.of('ironic', OTHER)
    traits = {'COMPUTE_NODE', OWN.trait, theirs.trait}

    assert mark.marks(traits) == [theirs, OWN]
    assert mark.others(traits, OWN) == [theirs]
    assert mark.others(traits, None) == []
