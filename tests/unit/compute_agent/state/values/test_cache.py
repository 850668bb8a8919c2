# SPDX-License-Identifier: Apache-2.0
"""The cache returns the same objects until something of them is written."""

import dataclasses

import pytest
from seen import reading

from compute_agent import errors
from compute_agent.plan import intents
from compute_agent.state import state
from compute_agent.state.nodes import KnownNode
from compute_agent.tree import assertion, names, provider

NODE = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'
SHARED = '33333333-3333-4333-8333-333333333333'
TRAIT = assertion.Kind.TRAIT
HELD = {(SHARED, TRAIT): {'driver': frozenset({'CUSTOM_A'})}}


@pytest.fixture
def kept():
    opened = state.State.in_memory('here')
    opened.journal.save([reading(NODE), reading(OTHER), reading(SHARED)])
    yield opened
    opened.close()


def records(kept):
    """The records of the shared provider, as read for each of the nodes."""
    return [kept.records.record({one, SHARED}, one) for one in (NODE, OTHER)]


def test_unwritten_values_are_the_same_objects(kept):
    first = kept.snapshot.readings([NODE, OTHER])
    kept.journal.save([reading(OTHER, generation=2)])
    again = kept.snapshot.readings([NODE, OTHER])
    assert again[NODE] is first[NODE]
    assert again[OTHER].provider.generation == 2
    before = records(kept)
    assert all(a is b for a, b in zip(before, records(kept), strict=True))


def test_a_missing_reading_is_not_cached(kept):
    new = '44444444-4444-4444-8444-444444444444'
    assert kept.snapshot.readings([NODE, new]).keys() == {NODE}
    kept.journal.save([reading(new)])
    assert kept.snapshot.readings([NODE, new]).keys() == {NODE, new}


CREATION = intents.Intent(node_uuid=NODE, uuid=SHARED, kind=None, generation=0)
WRITES = {
    'hold': lambda s: s.journal.begin(NODE, [], HELD),
    'confirm': lambda s: s.journal.record_outcome([CREATION]),
    'forget': lambda s: s.journal.forget([SHARED]),
    'save': lambda s: s.journal.save([reading(SHARED, generation=2)]),
    'settle': lambda s: s.journal.record_outcome(
        [], readings=[reading(SHARED, generation=2)]
    ),
    'gone': lambda s: s.journal.record_outcome([], gone=[SHARED]),
    'adopt': lambda s: s.journal.adopt(NODE, {SHARED: 1}),
    'pass on': lambda s: s.records.pass_on(SHARED, NODE, OTHER),
    'forget nodes': lambda s: s.nodes.forget([NODE]),
    'forget node': lambda s: s.handover.forget_with_record(NODE),
}


@pytest.mark.parametrize('write', WRITES.values(), ids=WRITES)
def test_each_write_drops_the_records_of_every_node(kept, write):
    kept.journal.begin(NODE, [CREATION], HELD)
    before = records(kept)
    write(kept)
    after = records(kept)
    assert all(a is not b for a, b in zip(before, after, strict=True))


def test_a_record_after_a_write_has_the_written_values(kept):
    kept.journal.begin(NODE, [CREATION], HELD)
    records(kept)
    kept.journal.record_outcome(
        [CREATION], readings=[reading(SHARED, 'CUSTOM_B', generation=2)]
    )
    one, two = records(kept)
    assert one.created == two.created == {SHARED}
    assert one.claims == HELD
    assert two.claimed_for_other_nodes((SHARED, TRAIT)) == {'CUSTOM_A'}
    assert kept.snapshot.readings([SHARED])[SHARED].provider.traits == {
        'CUSTOM_B'
    }


def test_a_record_of_other_providers_is_read_from_the_database(kept):
    kept.journal.begin(NODE, [], HELD)
    assert kept.records.record({NODE}, NODE).claims == {}
    assert kept.records.record({NODE, SHARED}, NODE).claims == HELD


def test_a_failed_write_changes_no_cached_value(kept):
    broken = dataclasses.replace(reading(NODE, generation=2), root_uuid=None)
    kept.snapshot.readings([NODE])
    with pytest.raises(errors.Unavailable):
        kept.journal.save([reading(SHARED, generation=2), broken])
    found = kept.snapshot.readings([NODE, SHARED])
    assert {r.provider.generation for r in found.values()} == {1}


def test_known_names_are_cached_until_they_are_written(kept):
    assert kept.site.known_names() is None
    known = names.KnownNames(
        traits=frozenset({'CUSTOM_A'}), resource_classes=frozenset({'VCPU'})
    )
    kept.site.save_known_names(known)
    assert kept.site.known_names() == known
    assert kept.site.known_names() is kept.site.known_names()
    kept.site.save_known_names(None)
    assert kept.site.known_names() is None


def test_the_number_of_providers_is_kept_by_site(tmp_path):
    with_size = state.State.open(tmp_path, 'here')
    assert with_size.site.size() is None
    size = provider.Size(providers=50_000, counted_at=2.5)
    with_size.site.save_size(size)
    assert with_size.site.size() == size
    with_size.close()
    for site, known in (('here', size), ('there', None)):
        opened = state.State.open(tmp_path, site)
        assert opened.site.size() == known
        opened.close()


def test_the_nodes_are_cached_until_they_are_written(kept):
    known, other = (
        KnownNode(name='node-1', drivers=frozenset({driver}))
        for driver in ('rack:Rack', 'other:Driver')
    )
    kept.nodes.keep({NODE: known})
    assert kept.nodes.of_drivers(['rack:Rack']) == {NODE: known}
    assert kept.nodes.of_drivers(['other:Driver']) == {}
    kept.nodes.keep({OTHER: other})
    assert kept.nodes.of_drivers(['other:Driver']) == {OTHER: other}
    kept.nodes.forget([NODE])
    assert kept.nodes.of_drivers(['rack:Rack']) == {}


@pytest.mark.parametrize(
    'write',
    [
        lambda s: s.nodes.forget([OTHER]),
        lambda s: s.records.pass_on(SHARED, OTHER, OTHER),
        lambda s: s.journal.adopt(OTHER, {OTHER: 1}),
        lambda s: s.nodes.keep({}),
    ],
    ids=['forget nodes', 'pass on', 'adopt', 'keep nodes'],
)
def test_a_write_for_another_node_drops_nothing_of_this_one(kept, write):
    kept.records.record({NODE}, NODE)
    before = (
        kept.snapshot.readings([NODE])[NODE],
        kept.records.record({NODE}, NODE),
    )
    write(kept)
    after = (
        kept.snapshot.readings([NODE])[NODE],
        kept.records.record({NODE}, NODE),
    )
    assert all(a is b for a, b in zip(before, after, strict=True))
