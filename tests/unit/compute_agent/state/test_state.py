# SPDX-License-Identifier: Apache-2.0
"""What the state database keeps, and that it comes back as it went in."""

import dataclasses

import pytest

from compute_agent.ownership.record import Record
from compute_agent.state import state as state_module
from compute_agent.tree import assertion, intents, inventory, names, provider

NODE = '11111111-1111-4111-8111-111111111111'
CHILD = '22222222-2222-4222-8222-222222222222'
OTHER = '33333333-3333-4333-8333-333333333333'
TRAIT = assertion.Kind.TRAIT
AGGREGATE = assertion.Kind.AGGREGATE
INVENTORY = assertion.Kind.INVENTORY
EMPTY = Record()


@pytest.fixture(params=['in memory', 'on disk'])
def state(request, tmp_path):
    opened = (
        state_module.State.in_memory('here')
        if request.param == 'in memory'
        else state_module.State.open(tmp_path / 'state', 'here')
    )
    yield opened
    opened.close()


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


def test_a_new_one_knows_nothing(state):
    assert state.records.record([NODE], NODE) == EMPTY
    assert state.snapshot.readings([NODE]) == {}
    assert state.snapshot.members([NODE]).get(NODE, set()) == set()
    assert state.records.created_for([NODE]).get(NODE, []) == []
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.snapshot.known_names() is None


def test_a_reading_comes_back_whole(state):
    one, two = reading(), reading(CHILD, NODE, 7, suspect=True)
    state.journal.save([one, two])
    back = state.snapshot.readings([NODE, CHILD, OTHER])
    assert back == {NODE: one, CHILD: two}
    assert [r.provider.generation for r in back.values()] == [1, 7]
    ratio = back[NODE].provider.inventories['VCPU'].allocation_ratio
    assert ratio == 1 / 3


def test_the_last_reading_counts(state):
    state.journal.save([reading(generation=1)])
    state.journal.save([reading(generation=2)])
    assert state.snapshot.readings([NODE])[NODE].provider.generation == 2


def test_members_are_those_last_seen_below_a_root(state):
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
    state.snapshot.save_known_names(known)
    assert state.snapshot.known_names() == known
    state.snapshot.save_known_names(None)
    assert state.snapshot.known_names() is None


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


def test_an_intent_is_nobodys_until_it_is_confirmed(state):
    state.journal.begin(
        NODE, [creation(), setting(TRAIT, 1, ['A'], ['A'])], {}
    )
    assert state.records.record([NODE], NODE) == EMPTY


def test_what_is_confirmed_is_created_and_ours(state):
    sent = [creation(), setting(TRAIT, 1, ['A', 'B'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent)
    record = state.records.record([NODE], NODE)
    assert record.created == {NODE}
    assert record.ours == {(NODE, TRAIT): {'A'}}
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.records.created_for([NODE]).get(NODE, []) == [NODE]


def test_what_is_dropped_is_nobodys(state):
    sent = [creation(), setting(TRAIT, 1, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome([], sent)
    assert state.records.record([NODE], NODE) == EMPTY
    assert state.journal.intents([NODE]).get(NODE, {}) == {}


def test_what_is_neither_stays_an_intent(state):
    sent = [setting(TRAIT, n, ['A'], ['A']) for n in (1, 2, 3)]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent[:1], sent[2:])
    assert state.journal.intents([NODE]).get(NODE, {}) == {NODE: [sent[1]]}


def test_what_is_ours_stays_ours_while_it_is_sent_and_goes_with_it(state):
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


def test_holders_are_kept_by_source(state):
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


def test_a_source_holds_for_one_node_what_it_does_not_for_another(state):
    key, some = (CHILD, TRAIT), frozenset({'A'})
    state.journal.begin(NODE, [], {key: {'driver': some}})
    state.journal.begin(OTHER, [], {key: {'driver': frozenset({'B'})}})
    record = state.records.record([CHILD], NODE)
    assert record.claims == {key: {'driver': some}}
    assert record.others == {key: {('driver', OTHER): {'B'}}}
    assert state.records.record([CHILD], OTHER).others == {
        key: {('driver', NODE): some}
    }


def test_a_node_that_is_forgotten_holds_nothing_anywhere(state):
    key = (CHILD, TRAIT)
    for node in (NODE, OTHER):
        state.journal.begin(node, [], {key: {'driver': frozenset({'A'})}})
    state.nodes.forget([OTHER])
    record = state.records.record([CHILD], NODE)
    assert (record.claims, record.others) == ({key: {'driver': {'A'}}}, {})


def test_a_record_is_of_the_providers_asked_for(state):
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
def test_a_provider_that_is_gone_leaves_nothing(state, how):
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


def test_to_settle_may_save_readings_at_the_same_time(state):
    sent = [creation()]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent, readings=[reading()])
    assert state.snapshot.readings([NODE]) == {NODE: reading()}


def test_a_generator_of_what_is_done_is_as_good_as_a_list(state):
    sent = [creation(), setting(TRAIT, 1, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(intent for intent in sent)
    assert state.records.record([NODE], NODE).created == {NODE}
    assert state.journal.intents([NODE]).get(NODE, {}) == {}


def test_of_two_nodes_with_the_same_intent_one_is_settled(state):
    """Both write to a provider that they share, after the same read."""
    mine = setting(TRAIT, 1, ['A'], ['A'], CHILD)
    theirs = dataclasses.replace(mine, node_uuid=OTHER)
    state.journal.begin(NODE, [mine], {})
    state.journal.begin(OTHER, [theirs], {})
    state.journal.record_outcome([], [mine])
    assert state.journal.intents([NODE]).get(NODE, {}) == {}
    assert state.journal.intents([OTHER]).get(OTHER, {}) == {CHILD: [theirs]}


def test_who_created_a_provider_is_who_confirmed_it(state):
    for node in (NODE, OTHER):
        sent = dataclasses.replace(creation(CHILD), node_uuid=node)
        state.journal.begin(node, [sent], {})
    state.journal.record_outcome([sent])
    assert (
        state.records.created_for([NODE]).get(NODE, []),
        state.records.created_for([OTHER]).get(OTHER, []),
    ) == ([], [CHILD])


def test_a_plan_cut_short_has_the_intents_that_are_left_only(state):
    old = [setting(TRAIT, n, ['A'], ['A'], CHILD) for n in (1, 2, 3)]
    state.journal.begin(NODE, old, {})
    state.journal.begin(NODE, old[:1], {})
    assert state.journal.intents([NODE]).get(NODE, {}) == {CHILD: old[:1]}


def test_a_reading_that_was_overtaken_is_not_kept(state):
    old, new = reading(generation=4), reading(generation=6)
    since = state.journal.moment()
    state.journal.save([new], since=since)
    state.journal.save([old], since=since)
    assert state.snapshot.readings([NODE]) == {NODE: new}
    assert state.journal.newer([NODE, CHILD], since) == {NODE}
    state.journal.save([old], since=state.journal.moment())
    assert state.snapshot.readings([NODE]) == {NODE: old}


def test_what_was_confirmed_meanwhile_stays_ours(state):
    since = state.journal.moment()
    sent = [setting(TRAIT, 5, ['A'], ['A'])]
    state.journal.begin(NODE, sent, {})
    state.journal.record_outcome(sent)  # the reading after it is not known
    state.journal.save([reading(generation=4)], since=since)
    assert state.records.record([NODE], NODE).ours == {(NODE, TRAIT): {'A'}}
    assert state.snapshot.readings([NODE]) == {}


def test_a_node_begun_anew_has_the_new_intents_only(state):
    """Those of an earlier cycle are settled before; none may linger."""
    old = [setting(TRAIT, n, ['A'], ['A'], CHILD) for n in (1, 2, 3)]
    state.journal.begin(NODE, old, {})
    state.journal.record_outcome([], old)
    new = [setting(TRAIT, 4, ['B'], ['B'], CHILD)]
    state.journal.begin(NODE, new, {})
    assert state.journal.intents([NODE]).get(NODE, {}) == {CHILD: new}
