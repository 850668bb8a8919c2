# SPDX-License-Identifier: Apache-2.0
"""The names that an operator orders the agent to remove."""

import pytest

from compute_agent import errors
from compute_agent.ownership.policy import NO_PRUNE, Prune
from compute_agent.tree.node import Node

UUID = '11111111-1111-4111-8111-111111111111'
NODE = Node(uuid=UUID, name='n1', title='rack1')


def test_words_have_one_name_or_several_with_commas():
    prune = Prune.parse(['CUSTOM_A, VCPU', 'CUSTOM_B'])
    assert prune.names == {'CUSTOM_A', 'VCPU', 'CUSTOM_B'}


def test_the_uuid_of_an_aggregate_may_be_in_capitals():
    aggregate = 'ABCDEF00-1111-4111-8111-111111111111'
    assert Prune.parse([aggregate]).names == {aggregate.lower()}


@pytest.mark.parametrize('word', ['', 'CUSTOM_*', 'custom_a', 'A,,B', 'A B'])
def test_a_word_that_is_not_a_name_is_refused(word):
    with pytest.raises(errors.ConfigError, match='give complete names'):
        Prune.parse([word])


@pytest.mark.parametrize('name', ['COMPUTE_STATUS_DISABLED', 'OWNER_NOVA'])
def test_a_name_that_others_decide_by_is_refused(name):
    with pytest.raises(errors.ConfigError, match=name):
        Prune.parse([name])


def test_a_node_without_names_is_refused():
    with pytest.raises(errors.ConfigError, match='add --prune NAME'):
        Prune.parse([], 'n1')


@pytest.mark.parametrize('node', [None, 'n1', 'rack1', UUID])
def test_a_node_is_selected_by_name_title_or_uuid_or_not_at_all(node):
    assert Prune.parse(['A'], node).names_for(NODE) == {'A'}


def test_another_node_has_nothing_to_remove():
    assert Prune.parse(['A'], 'n2').names_for(NODE) == frozenset()
    assert NO_PRUNE.names_for(NODE) == frozenset()


def test_names_that_were_not_removed_remain_in_order():
    assert Prune.parse(['C,A,B']).remaining({'B', 'X'}) == ['A', 'C']
