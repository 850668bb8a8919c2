# SPDX-License-Identifier: Apache-2.0
"""The past of providers is kept for those with names of this agent only."""

import contextlib
import sqlite3

import pytest

from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.tree import provider
from compute_agent.tree.assertion import Kind

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'


@pytest.fixture
def state(tmp_path):
    opened = state_module.State.open(tmp_path, 'here')
    yield opened
    opened.close()


def reading(uuid):
    seen = provider.Provider(
        uuid=uuid, name=uuid, generation=1, traits=frozenset({'CUSTOM_A'})
    )
    return provider.Reading(provider=seen, root_uuid=NODE, read_at=1.0)


def with_past(tmp_path):
    query = 'select uuid from past_contents'
    with contextlib.closing(sqlite3.connect(tmp_path / 'state.sqlite')) as db:
        return {uuid for (uuid,) in db.execute(query)}


def test_a_provider_of_others_that_goes_leaves_nothing(state, tmp_path):
    added = intents.Intent(
        node_uuid=NODE,
        uuid=NODE,
        kind=Kind.TRAIT,
        generation=1,
        names=frozenset({'CUSTOM_A'}),
        added=frozenset({'CUSTOM_A'}),
    )
    state.journal.save([reading(NODE), reading(CHILD)])
    state.journal.record_outcome([added])
    assert with_past(tmp_path) == {NODE, CHILD}
    state.journal.forget([NODE, CHILD])
    assert with_past(tmp_path) == {NODE}
