# SPDX-License-Identifier: Apache-2.0
"""Prior states: how providers stood before others changed them."""

import dataclasses

import pytest

from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.tree import inventory, provider
from compute_agent.tree.assertion import Kind

NODE = '11111111-1111-4111-8111-111111111111'
FIRST = provider.Reading(
    provider=provider.Provider(
        uuid=NODE,
        name='node-1',
        generation=1,
        traits=frozenset({'HW_A', 'CUSTOM_A'}),
        inventories={'VCPU': inventory.Inventory(total=8)},
    ),
    root_uuid=NODE,
    read_at=1.0,
)


@pytest.fixture
def state(tmp_path):
    opened = state_module.State.open(tmp_path, 'here')
    yield opened
    opened.close()


def changed(**some):
    one = dataclasses.replace(FIRST.provider, generation=2, **some)
    return dataclasses.replace(FIRST, provider=one, read_at=2.0)


def was(state):
    found = state.records.record([NODE], NODE).was
    return found[NODE].traits if found else None


def test_a_first_or_equal_reading_keeps_no_prior_state(state):
    state.journal.save([FIRST])
    state.journal.save([changed()])
    assert was(state) is None


def test_a_change_by_others_keeps_the_prior_state(state):
    state.journal.save([FIRST])
    state.journal.save([changed(traits=frozenset({'HW_A'}))])
    found = state.records.record([NODE], NODE).was[NODE]
    assert found.traits == FIRST.provider.traits
    assert found.inventories == FIRST.provider.inventories


def test_of_several_changes_the_oldest_state_is_kept(state):
    state.journal.save([FIRST])
    state.journal.save([changed(traits=frozenset({'HW_A'}))])
    state.journal.save([changed(traits=frozenset())])
    assert was(state) == FIRST.provider.traits


def test_a_write_of_ours_drops_the_prior_state(state):
    state.journal.save([FIRST])
    state.journal.save([changed(traits=frozenset())])
    intent = intents.Intent(
        node_uuid=NODE, uuid=NODE, kind=Kind.TRAIT, generation=3
    )
    state.journal.record_outcome(
        [intent], readings=[changed(traits=frozenset({'HW_B'}))]
    )
    assert was(state) is None


@pytest.mark.parametrize('forget', ['forget', 'forget_node'])
def test_the_prior_state_goes_with_its_provider(state, forget):
    state.journal.save([FIRST])
    state.journal.save([changed(traits=frozenset())])
    if forget == 'forget':
        state.journal.forget([NODE])
    else:
        state.handover.forget_with_record(NODE)
    assert was(state) is None


def test_each_site_has_prior_states_of_its_own(state, tmp_path):
    state.journal.save([FIRST])
    state.journal.save([changed(traits=frozenset())])
    there = state_module.State.open(tmp_path, 'there')
    assert was(there) is None
    there.close()


def test_an_adopted_provider_counts_as_created(state):
    child = '22222222-2222-4222-8222-222222222222'
    state.journal.adopt(NODE, {child: 1})
    assert state.records.record([child, NODE], NODE).created == {child}
    assert state.records.created_for([NODE]).get(NODE, []) == [child]
