# SPDX-License-Identifier: Apache-2.0
"""A file that an earlier agent wrote is opened, and the agent goes on with it.

``version_5.sql`` is a dump of a database that the agent of commit 9254b7d
wrote, so nothing that this agent writes or reads can change it by mistake.
"""

import contextlib
import pathlib
import sqlite3

import pytest

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.state import state as state_module
from compute_agent.state.database import schema
from compute_agent.state.nodes import KnownNode
from compute_agent.tree import inventory, names, provider
from compute_agent.tree.assertion import Kind
from compute_agent.tree.node import Node
from compute_agent.virt import driver as virt

DUMP = pathlib.Path(__file__).with_name('version_5.sql')
NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
OTHER = '44444444-4444-4444-8444-444444444444'
AGGREGATE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
GPU = frozenset({'VGPU'})
FILE = 'file:/etc/nova/provider_config/a.yaml'
OPEN = intents.Intent(
    node_uuid=NODE,
    uuid=NODE,
    kind=Kind.TRAIT,
    generation=5,
    names=frozenset({'CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C'}),
    added=frozenset({'CUSTOM_C'}),
)


@pytest.fixture
def directory(tmp_path):
    with contextlib.closing(
        sqlite3.connect(tmp_path / 'state.sqlite', isolation_level=None)
    ) as db:
        db.executescript(DUMP.read_text())
    return tmp_path


@pytest.fixture(params=['open', 'open_copy'])
def state(request, directory):
    how = getattr(state_module.State, request.param)
    with contextlib.closing(how(directory, 'here')) as opened:
        yield opened


def test_it_becomes_the_version_that_this_agent_writes(directory, tmp_path):
    new = tmp_path / 'new'
    for path in (new, directory):
        state_module.State.open(path).close()
    assert schema.SCHEMA_VERSION == 11
    assert tables(directory) == tables(new)


def tables(directory):
    with contextlib.closing(sqlite3.connect(directory / 'state.sqlite')) as db:
        return {
            (name, ' '.join(sql.split()) if sql else None)
            for name, sql in db.execute('select name, sql from sqlite_master')
        }


def test_its_record_is_there(state):
    driver = {'driver': {'CUSTOM_A'}}
    record = state.records.record([NODE, CHILD, SHARED], NODE)
    was = record.was[SHARED]
    assert record == Record(
        created=frozenset({CHILD}),
        ours={(NODE, Kind.TRAIT): {'CUSTOM_A'}, (CHILD, Kind.INVENTORY): GPU},
        claims={
            (NODE, Kind.TRAIT): driver,
            (SHARED, Kind.TRAIT): driver,
            (CHILD, Kind.INVENTORY): {'driver': GPU},
        },
        others={(SHARED, Kind.TRAIT): {(FILE, OTHER): {'CUSTOM_P'}}},
        taken_over=frozenset({NODE, CHILD, SHARED}),
        was={SHARED: was},
    )
    assert was.traits == {'CUSTOM_A', 'CUSTOM_P'}
    assert state.records.created_for([NODE, OTHER]) == {NODE: [CHILD]}
    assert state.journal.intents([NODE, OTHER]) == {NODE: {NODE: [OPEN]}}


def test_its_nodes_are_there(state):
    assert state.nodes.of_drivers(['rack:Rack']) == {
        NODE: KnownNode(
            name='node-1', title='rack1', drivers=frozenset({'rack:Rack'})
        ),
        OTHER: KnownNode(
            name='node-2',
            drivers=frozenset({'rack:Rack'}),
            answer=virt.Existence.NO,
            asked_at=1700000000.5,
        ),
    }
    assert [node.called for node in state.nodes.all()] == ['rack1', 'node-2']


def test_its_snapshot_is_there(state):
    found = state.snapshot.readings([NODE, CHILD, SHARED, OTHER])
    assert found.keys() == {NODE, CHILD, SHARED}
    assert found[NODE] == provider.Reading(
        provider=provider.Provider(
            uuid=NODE,
            name='node-1',
            generation=4,
            inventories={
                'VCPU': inventory.Inventory(
                    total=8, reserved=1, allocation_ratio=1 / 3
                )
            },
            traits=frozenset({'CUSTOM_A', 'CUSTOM_B'}),
            aggregates=frozenset({AGGREGATE}),
        ),
        root_uuid=NODE,
        read_at=1700000000.25,
    )
    assert found[NODE].provider.generation == 4
    assert found[CHILD].provider.parent_uuid == NODE
    assert [found[u].suspect for u in (CHILD, SHARED)] == [False, True]
    assert state.snapshot.members([NODE]) == {NODE: {NODE, CHILD}}
    assert state.site.known_names() == names.KnownNames(
        traits=frozenset({'CUSTOM_A'}),
        resource_classes=frozenset({'VCPU', 'VGPU'}),
        read_at=1700000000.75,
    )
    size = provider.Size(providers=50_000, counted_at=1700000000.0)
    assert state.site.size() == size


def test_the_open_intent_is_confirmed_and_the_node_handed_over(directory):
    node = Node(uuid=NODE, name='node-1')
    with contextlib.closing(state_module.State.open(directory)) as state:
        with pytest.raises(errors.UnknownState, match='"compute-agent sync"'):
            state.handover.export_record(node)
        state.journal.record_outcome([OPEN])
    with contextlib.closing(state_module.State.open(directory)) as state:
        handed = state.handover.export_record(node)
    assert (handed.driver, handed.providers) == ('rack:Rack', [NODE, CHILD])
    assert handed.record.ours[NODE, Kind.TRAIT] == {'CUSTOM_A', 'CUSTOM_C'}
