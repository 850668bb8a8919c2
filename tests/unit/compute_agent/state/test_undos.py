# SPDX-License-Identifier: Apache-2.0
"""The changes that other writers undid are kept over restarts."""

import contextlib
import dataclasses

from compute_agent.limits import contention
from compute_agent.state import state as state_module
from compute_agent.tree import assertion, inventory

A = '11111111-1111-4111-8111-111111111111'
AVX = contention.Item(uuid=A, kind=assertion.Kind.TRAIT, name='HW_AVX')
EIGHT = contention.Item(
    uuid=A,
    kind=assertion.Kind.INVENTORY,
    name='VCPU',
    record=inventory.Inventory(total=8, allocation_ratio=1.5),
)
NINE = dataclasses.replace(EIGHT, record=inventory.Inventory(total=9))
CREATED = contention.Item(uuid=A, kind=None)


def fought():
    """A memory of names that were undone, some of them too often."""
    memory = contention.Contention(lambda: 1_700_000_000.25)
    for number in range(4):
        done = {EIGHT, CREATED} if number else {AVX, EIGHT, CREATED}
        memory.end_cycle(
            [
                contention.NodeOutcome(node='one', done=frozenset(done)),
                contention.NodeOutcome(node='two', done=frozenset({NINE})),
            ]
        )
    memory.end_cycle(
        [contention.NodeOutcome(node='one', done=frozenset({AVX}))]
    )
    return memory


def test_what_was_saved_is_loaded(tmp_path):
    changed = fought().changed()
    assert changed.keys() == {AVX.key, EIGHT.key, CREATED.key}
    with contextlib.closing(state_module.State.open(tmp_path)) as state:
        state.undos.save(changed)
    with contextlib.closing(state_module.State.open(tmp_path)) as state:
        found = state.undos.load()
    again = contention.Contention(lambda: 1_700_000_000.25)
    again.load(found)
    assert again.contended() == fought().contended() == {EIGHT, NINE, CREATED}
    nodes = {item.nodes for item in again.contended()}
    assert nodes == {(), ('one', 'two')}
    assert found[AVX.key].undone == changed[AVX.key].undone


def test_what_is_forgotten_is_dropped(tmp_path):
    changed = fought().changed()
    with contextlib.closing(state_module.State.open(tmp_path)) as state:
        state.undos.save(changed)
        state.undos.save(dict.fromkeys(changed))
        state.undos.save({})
        assert state.undos.load() == {}
