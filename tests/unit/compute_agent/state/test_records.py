# SPDX-License-Identifier: Apache-2.0
"""Records that are read for many nodes at once, before they are asked for."""

import contextlib
import dataclasses
import sqlite3

import pytest
from seen import reading

from compute_agent import errors
from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.tree.assertion import Kind

NODES = [f'1111111{n}-1111-4111-8111-111111111111' for n in range(5)]
SHARED = '33333333-3333-4333-8333-333333333333'
STRANGER = '44444444-4444-4444-8444-444444444444'
WANTED = {uuid: frozenset({uuid, SHARED}) for uuid in NODES}


def intent(node_uuid, uuid, kind=None, *names):
    return intents.Intent(
        node_uuid=node_uuid,
        uuid=uuid,
        kind=kind,
        generation=1,
        names=frozenset(names),
        added=frozenset(names),
    )


@pytest.fixture
def directory(tmp_path):
    """A state directory in which every node has a record of its own.

    The first node was created and some of its names are ours. Somebody else
    changed the traits of the second. The shared provider has claims for two
    nodes. The stranger belongs to no node.
    """
    first, second, third = NODES[:3]
    kept = state_module.State.open(tmp_path, 'here')
    kept.journal.save([reading(uuid, 'CUSTOM_A') for uuid in [*NODES, SHARED]])
    made = [
        intent(first, first),
        intent(first, first, Kind.TRAIT, 'CUSTOM_A'),
        intent(third, SHARED, Kind.TRAIT, 'CUSTOM_B'),
        intent(third, STRANGER),
    ]
    for node in (first, third):
        own = {'driver': frozenset({'CUSTOM_A', f'CUSTOM_{node[7]}'})}
        held = {(node, Kind.TRAIT): own, (SHARED, Kind.TRAIT): own}
        kept.journal.begin(
            node, [i for i in made if i.node_uuid == node], held
        )
    kept.journal.record_outcome(made)
    kept.journal.save([reading(second, 'CUSTOM_Z', generation=2)])
    kept.close()
    return tmp_path


@pytest.fixture
def opened(directory):
    """The same state twice, with empty caches."""
    both = [state_module.State.open(directory, 'here') for _ in range(2)]
    yield both
    for one in both:
        one.close()


@pytest.mark.parametrize('strangers', [0, 300])
def test_preloaded_records_equal_those_read_one_by_one(opened, strangers):
    """For more nodes than one query returns, too (500)."""
    alone, together = opened
    wanted = {}
    for node, uuids in WANTED.items():
        for number in range(strangers):
            stranger = f'{node[:8]}-0000-4000-8000-{number:012}'
            wanted[stranger] = frozenset({stranger})
        wanted[node] = uuids
    together.records.preload(wanted)
    together.close()  # so that every record must come from the cache
    found = {n: together.records.record(some, n) for n, some in WANTED.items()}
    assert found == {
        n: alone.records.record(some, n) for n, some in WANTED.items()
    }
    first, second, third = (found[node] for node in NODES[:3])
    assert first.created == {NODES[0]}
    assert first.ours[NODES[0], Kind.TRAIT] == {'CUSTOM_A'}
    assert second.was[NODES[1]].traits == {'CUSTOM_A'}
    assert not second.created
    assert third.ours == {(SHARED, Kind.TRAIT): {'CUSTOM_B'}}
    assert third.claimed_for_other_nodes((SHARED, Kind.TRAIT)) == {
        'CUSTOM_A',
        'CUSTOM_0',
    }


def test_unchanged_records_stay_the_same_objects(opened):
    one, _ = opened
    known = {n: one.records.record(some, n) for n, some in WANTED.items()}
    one.journal.save([dataclasses.replace(reading(NODES[4]), read_at=2.0)])
    one.records.preload(WANTED)
    same = [one.records.record(WANTED[n], n) is r for n, r in known.items()]
    assert same == [True, True, True, True, False]


@pytest.mark.parametrize(
    ('damage', 'node'),
    [
        ("update held set names = '{'", NODES[2]),
        ("update ours set kind = 'colour'", NODES[0]),
        ("update was set content = '[[], [], []]'", NODES[1]),
        ("update was set content = '{'", NODES[1]),
    ],
)
def test_a_damaged_row_fails_only_its_node(directory, opened, damage, node):
    with contextlib.closing(
        sqlite3.connect(directory / 'state.sqlite', isolation_level=None)
    ) as db:
        assert db.execute(f'{damage} where uuid = ?', [node]).rowcount
    one, alone = opened
    one.records.preload({n: frozenset({n}) for n in NODES})
    with pytest.raises(errors.ConfigError, match='cannot be read'):
        one.records.record([node], node)
    for other in set(NODES) - {node}:
        assert one.records.record([other], other) == alone.records.record(
            [other], other
        )


def test_preloading_keeps_a_cached_record_of_more_providers(opened):
    """A plan also covers providers that placement does not have yet."""
    one, _ = opened
    more = [*WANTED[NODES[0]], STRANGER]
    known = one.records.record(more, NODES[0])
    one.records.preload(WANTED)
    assert one.records.record(more, NODES[0]) is known
