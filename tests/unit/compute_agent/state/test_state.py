# SPDX-License-Identifier: Apache-2.0
"""Everything that is written to the state is read back unchanged."""

import dataclasses

import pytest

from compute_agent.ownership.record import Record
from compute_agent.plan import intents
from compute_agent.tree import assertion, inventory, names, provider

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
OTHER = '33333333-3333-4333-8333-333333333333'
TRAIT = assertion.Kind.TRAIT
AGGREGATE = assertion.Kind.AGGREGATE
INVENTORY = assertion.Kind.INVENTORY
EMPTY = Record()


def creation(uuid=NODE):
    return intents.Intent(node_uuid=NODE, uuid=uuid, kind=None, generation=0)


def setting(kind, generation, sent, added=(), uuid=NODE):
    return intents.Intent(
        node_uuid=NODE,
        uuid=uuid,
        kind=kind,
        generation=generation,
        names=frozenset(sent),
        added=frozenset(added),
    )


def reading(uuid=NODE, parent=None, generation=1, root=NODE, **more):
    content = {
        'inventories': {
            'VCPU': inventory.Inventory(
                total=8, reserved=1, max_unit=4, allocation_ratio=1 / 3
            )
        },
        'traits': frozenset({'HW_CPU_X86_AVX', 'CUSTOM_A'}),
        'aggregates': frozenset({OTHER}),
    }
    return provider.Reading(
        provider=provider.Provider(
            uuid=uuid,
            name=f'provider {uuid[:1]} "ünï\'"',
            parent_uuid=parent,
            generation=generation,
            **content,
        ),
        root_uuid=root,
        read_at=1_700_000_000.25,
        **more,
    )


def test_a_new_state_is_empty(state):
    assert state.records.record([NODE], NODE) == EMPTY
    assert state.snapshot.readings([NODE]) == {}
    assert state.snapshot.members([NODE]).get(NODE, set()) == set()
    assert state.records.created_for([NODE]).get(NODE, []) == []
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.site.known_names() is None


def test_a_reading_is_read_back_unchanged(state):
    one, two = reading(), reading(CHILD, NODE, 7, suspect_since=1.0)
    state.journal.save([one, two])
    back = state.snapshot.readings([NODE, CHILD, OTHER])
    assert back == {NODE: one, CHILD: two}
    assert [r.provider.generation for r in back.values()] == [1, 7]
    ratio = back[NODE].provider.inventories['VCPU'].allocation_ratio
    assert ratio == 1 / 3


def test_the_last_reading_replaces_earlier_ones(state):
    state.journal.save([reading(generation=1)])
    state.journal.save([reading(generation=2)])
    assert state.snapshot.readings([NODE])[NODE].provider.generation == 2


def test_members_are_the_providers_last_seen_in_a_tree(state):
    state.journal.save(
        [reading(), reading(CHILD, NODE), reading(OTHER, root=OTHER)]
    )
    assert state.snapshot.members([NODE]).get(NODE, set()) == {NODE, CHILD}
    state.journal.save([reading(CHILD, OTHER, root=OTHER)])
    assert state.snapshot.members([NODE]).get(NODE, set()) == {NODE}


def test_known_names_are_kept_and_forgotten(state):
    known = names.KnownNames(
        traits=frozenset({'COMPUTE_NODE'}),
        resource_classes=frozenset({'VCPU', 'CUSTOM_X'}),
    )
    state.site.save_known_names(known)
    assert state.site.known_names() == known
    state.site.save_known_names(None)
    assert state.site.known_names() is None


def test_intents_come_back_in_the_order_they_are_sent(state):
    sent = [
        creation(),
        setting(TRAIT, 1, ['B', 'A'], ['A']),
        creation(CHILD),
        setting(INVENTORY, 2, ['VCPU'], ['VCPU']),
        setting(AGGREGATE, 3, [OTHER], [OTHER]),
    ]
    state.journal.begin(NODE, sent, {})
    found = state.journal.intents([NODE]).get(NODE, {})
    assert found[NODE] == [sent[0], sent[1], sent[3], sent[4]]
    assert found[CHILD] == [sent[2]]
    assert state.journal.intents([OTHER]).get(OTHER, {}) == {}


def test_after_a_refusal_the_intents_on_its_provider_are_others(state):
    sent = [
        creation(),
        creation(CHILD),
        setting(TRAIT, 1, ['A'], ['A']),
        setting(INVENTORY, 2, ['VCPU'], ['VCPU']),
    ]
    theirs = setting(TRAIT, 1, ['A'], ['A'])
    theirs = dataclasses.replace(theirs, node_uuid=OTHER)
    state.journal.begin(NODE, sent, {})
    state.journal.begin(OTHER, [theirs], {})
    left = [sent[0], setting(INVENTORY, 1, ['VCPU'], ['VCPU'])]
    state.journal.amend(NODE, [NODE], left)
    assert state.journal.intents([NODE])[NODE] == {
        NODE: left,
        CHILD: [sent[1]],
    }
    assert state.journal.intents([OTHER])[OTHER] == {NODE: [theirs]}


def test_an_open_intent_adds_nothing_to_the_record(state):
    state.journal.begin(
        NODE, [creation(), setting(TRAIT, 1, ['A'], ['A'])], {}
    )
    assert state.records.record([NODE], NODE) == EMPTY


def test_a_confirmed_write_is_created_and_ours(state):
    sent = [creation(), setting(TRAIT, 1, ['A', 'B'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent)
    record = state.records.record([NODE], NODE)
    assert record.created == {NODE}
    assert record.ours == {(NODE, TRAIT): {'A'}}
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.records.created_for([NODE]).get(NODE, []) == [NODE]


def test_a_dropped_intent_adds_nothing_to_the_record(state):
    sent = [creation(), setting(TRAIT, 1, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome([], sent)
    assert state.records.record([NODE], NODE) == EMPTY
    assert state.journal.intents([NODE]).get(NODE, {}) == {}


def test_an_intent_that_is_neither_done_nor_dropped_stays_open(state):
    sent = [setting(TRAIT, n, ['A'], ['A']) for n in (1, 2, 3)]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent[:1], sent[2:])
    assert state.journal.intents([NODE]).get(NODE, {}) == {NODE: [sent[1]]}


def test_a_name_stays_ours_until_a_write_leaves_it_out(state):
    first = setting(TRAIT, 1, ['A', 'B', 'C'], ['A', 'B'])
    state.journal.begin(NODE, [first], {})
    state.journal.record_outcome([first])
    second = setting(TRAIT, 2, ['B', 'C', 'D'], ['D'])
    state.journal.begin(NODE, [second], {})
    state.journal.record_outcome([second])
    assert state.records.record([NODE], NODE).ours == {
        (NODE, TRAIT): {'B', 'D'}
    }


def test_kinds_do_not_mix(state):
    sent = [setting(TRAIT, 1, ['A'], ['A']), setting(INVENTORY, 2, ['A'], [])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent)
    assert state.records.record([NODE], NODE).ours == {(NODE, TRAIT): {'A'}}


def test_claims_are_kept_by_source(state):
    held = {
        (NODE, TRAIT): {
            'driver': frozenset({'A'}),
            'agent': frozenset({'B', 'C'}),
        },
        (NODE, AGGREGATE): {'driver': frozenset()},
    }
    state.journal.begin(NODE, [], held)
    assert state.records.record([NODE, CHILD], NODE).claims == held
    state.journal.begin(
        NODE, [], {(NODE, TRAIT): {'driver': frozenset({'D'})}}
    )
    assert state.records.record([NODE], NODE).claims == {
        **held,
        (NODE, TRAIT): {
            'driver': frozenset({'D'}),
            'agent': frozenset({'B', 'C'}),
        },
    }


def test_claims_of_one_source_are_kept_by_node(state):
    key, some = (CHILD, TRAIT), frozenset({'A'})
    state.journal.begin(NODE, [], {key: {'driver': some}})
    state.journal.begin(OTHER, [], {key: {'driver': frozenset({'B'})}})
    record = state.records.record([CHILD], NODE)
    assert record.claims == {key: {'driver': some}}
    assert record.others == {key: {('driver', OTHER): {'B'}}}
    assert state.records.record([CHILD], OTHER).others == {
        key: {('driver', NODE): some}
    }


def test_claims_end_when_their_node_is_forgotten(state):
    key = (CHILD, TRAIT)
    for node in (NODE, OTHER):
        state.journal.begin(node, [], {key: {'driver': frozenset({'A'})}})
    state.nodes.forget([OTHER])
    record = state.records.record([CHILD], NODE)
    assert (record.claims, record.others) == ({key: {'driver': {'A'}}}, {})


def test_a_record_has_only_the_providers_asked_for(state):
    for uuid in (NODE, CHILD):
        sent = [creation(uuid), setting(TRAIT, 1, ['A'], ['A'], uuid)]
        state.journal.begin(NODE, sent, {})
        state.journal.record_outcome(sent)
    assert state.records.record([CHILD], NODE).created == {CHILD}
    assert set(state.records.record([CHILD], NODE).ours) == {(CHILD, TRAIT)}
    assert sorted(state.records.created_for([NODE]).get(NODE, [])) == [
        NODE,
        CHILD,
    ]


@pytest.mark.parametrize('how', ['forget', 'settle'])
def test_everything_about_a_deleted_provider_is_dropped(state, how):
    sent = [creation(), setting(TRAIT, 1, ['A'], ['A'])]
    state.journal.begin(
        NODE, sent, {(NODE, TRAIT): {'driver': frozenset({'A'})}}
    )
    state.journal.record_outcome(
        sent, readings=[reading(), reading(CHILD, NODE)]
    )
    state.journal.begin(NODE, [setting(TRAIT, 2, ['B'], ['B'])], {})
    if how == 'forget':
        state.journal.forget([NODE])
    else:
        state.journal.record_outcome([], gone=[NODE])
    assert state.records.record([NODE], NODE) == EMPTY
    assert state.snapshot.readings([NODE, CHILD]).keys() == {CHILD}
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.records.created_for([NODE]).get(NODE, []) == []


def test_an_outcome_may_have_readings(state):
    sent = [creation()]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent, readings=[reading()])
    assert state.snapshot.readings([NODE]) == {NODE: reading()}


def test_the_intents_done_may_come_from_a_generator(state):
    sent = [creation(), setting(TRAIT, 1, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(intent for intent in sent)
    assert state.records.record([NODE], NODE).created == {NODE}
    assert state.journal.intents([NODE]).get(NODE, {}) == {}


def test_equal_intents_of_two_nodes_are_dropped_one_by_one(state):
    """Both write to a provider that they share, after the same read."""
    mine = setting(TRAIT, 1, ['A'], ['A'], CHILD)
    theirs = dataclasses.replace(mine, node_uuid=OTHER)
    state.journal.begin(NODE, [mine], {})
    state.journal.begin(OTHER, [theirs], {})
    state.journal.record_outcome([], [mine])
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.journal.intents([OTHER]).get(OTHER, {}) == {CHILD: [theirs]}


def test_a_provider_belongs_to_the_node_that_confirmed_its_creation(state):
    for node in (NODE, OTHER):
        sent = dataclasses.replace(creation(CHILD), node_uuid=node)
        state.journal.begin(node, [sent], {})
    state.journal.record_outcome([sent])
    assert (
        state.records.created_for([NODE]).get(NODE, []),
        state.records.created_for([OTHER]).get(OTHER, []),
    ) == ([], [CHILD])


def test_a_shorter_plan_has_only_its_own_intents(state):
    old = [setting(TRAIT, n, ['A'], ['A'], CHILD) for n in (1, 2, 3)]
    state.journal.begin(NODE, old, {})
    state.journal.begin(NODE, old[:1], {})
    assert state.journal.intents([NODE]).get(NODE, {}) == {CHILD: old[:1]}


def test_a_reading_older_than_a_known_update_is_skipped(state):
    old, new = reading(generation=4), reading(generation=6)
    since = state.journal.moment()
    state.journal.save([new], since=since)
    state.journal.save([old], since=since)
    assert state.snapshot.readings([NODE]) == {NODE: new}
    assert state.journal.newer([NODE, CHILD], since) == {NODE}
    state.journal.save([old], since=state.journal.moment())
    assert state.snapshot.readings([NODE]) == {NODE: old}


def test_a_name_confirmed_during_an_observation_stays_ours(state):
    since = state.journal.moment()
    sent = [setting(TRAIT, 5, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent)  # the reading after it is not known
    state.journal.save([reading(generation=4)], since=since)
    assert state.records.record([NODE], NODE).ours == {(NODE, TRAIT): {'A'}}
    assert state.snapshot.readings([NODE]) == {}


def test_a_node_that_begins_again_has_only_the_new_intents(state):
    """The intents of an earlier cycle were resolved before."""
    old = [setting(TRAIT, n, ['A'], ['A'], CHILD) for n in (1, 2, 3)]
    state.journal.begin(NODE, old, {})
    state.journal.record_outcome([], old)
    new = [setting(TRAIT, 4, ['B'], ['B'], CHILD)]
    state.journal.begin(NODE, new, {})
    assert state.journal.intents([NODE]).get(NODE, {}) == {CHILD: new}
