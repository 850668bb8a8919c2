# SPDX-License-Identifier: Apache-2.0
"""How a trait stands on a provider, and which sources hold it."""

import pytest

from compute_agent.ownership import record
from compute_agent.ownership.explanations import explain
from compute_agent.ownership.explanations.explain import State
from compute_agent.plan import change, removal
from compute_agent.tree import provider
from compute_agent.tree.assertion import Kind

TRAIT = 'CUSTOM_GOLD'
KEY = ('u', Kind.TRAIT)


def standing(*uuids, traits=()):
    """Providers that are there, with these traits."""
    return provider.snapshot(
        provider.Provider(uuid=u, name=u, traits=frozenset(traits))
        for u in uuids
    )


WITH, WITHOUT = standing('u', traits=[TRAIT]), standing('u')
NOT_THERE = standing()


def recorded(*, ours=(), claims=(), kind=Kind.TRAIT):
    """A record of one provider's names of one kind, held by the driver."""
    return record.Record(
        ours={('u', kind): frozenset(ours)},
        claims={('u', kind): {'driver': frozenset(claims)}},
    )


def explained(before, after, kept, *changes):
    (one,) = explain.explain(TRAIT, before, after, kept, changes)
    return one


@pytest.mark.parametrize(
    ('before', 'after', 'ours', 'held', 'state'),
    [
        (WITH, WITH, True, True, State.OURS),
        (WITH, WITH, True, False, State.OURS),
        (WITH, WITH, False, True, State.SHARED),
        (WITH, WITH, False, False, State.OTHERS),
        (WITH, WITHOUT, True, True, State.LEAVING),
        (WITH, WITHOUT, False, False, State.LEAVING),
        (WITH, NOT_THERE, True, False, State.LEAVING),
        (WITHOUT, WITH, False, True, State.DUE),
        (NOT_THERE, WITH, False, True, State.DUE),
        (WITHOUT, WITHOUT, True, True, State.ABSENT),
        (NOT_THERE, WITHOUT, False, False, State.ABSENT),
        (WITHOUT, NOT_THERE, False, False, State.ABSENT),
    ],
)
def test_a_trait_stands_as_placement_the_plan_and_the_record_say(
    before, after, ours, held, state
):
    kept = recorded(ours=[TRAIT] * ours, claims=[TRAIT] * held)
    assert explained(before, after, kept).state is state


@pytest.mark.parametrize(
    'kept',
    [
        record.Record(),
        recorded(ours=['CUSTOM_OTHER'], claims=['CUSTOM_OTHER']),
        recorded(ours=[TRAIT], claims=[TRAIT], kind=Kind.INVENTORY),
    ],
    ids=['nothing', 'another name', 'another kind'],
)
def test_a_record_of_something_else_says_nothing_of_the_trait(kept):
    one = explained(WITH, WITH, kept)
    assert (one.state, one.claimed_by) == (State.OTHERS, ())


def test_who_holds_it_is_named_with_the_node_if_that_is_another():
    kept = record.Record(
        claims={
            KEY: {
                'file b': frozenset({TRAIT}),
                'driver': frozenset({TRAIT, 'CUSTOM_OTHER'}),
                'file c': frozenset({'CUSTOM_OTHER'}),
            }
        },
        others={
            KEY: {
                ('driver', 'node-2'): frozenset({TRAIT}),
                ('driver', 'node-3'): frozenset({'CUSTOM_OTHER'}),
            }
        },
    )
    one = explained(WITH, WITH, kept)
    assert one.claimed_by == ('driver', 'file b', 'driver of node-2')
    assert one.state is State.SHARED


def test_what_only_another_nodes_source_holds_is_wanted_too():
    kept = record.Record(
        others={KEY: {('driver', 'node-2'): frozenset({TRAIT})}}
    )
    assert explained(WITH, WITH, kept).state is State.SHARED


def test_each_provider_of_now_and_of_then_is_explained_once():
    found = explain.explain(
        TRAIT,
        standing('b', 'a', traits=[TRAIT]),
        standing('a', 'c', traits=[TRAIT]),
        record.Record(ours={('a', Kind.TRAIT): frozenset({TRAIT})}),
    )
    assert [(one.provider.uuid, one.state) for one in found] == [
        ('b', State.LEAVING),
        ('a', State.OURS),
        ('c', State.DUE),
    ]


def test_a_provider_is_shown_as_it_is_now_or_else_as_it_will_be():
    renamed = provider.snapshot([provider.Provider(uuid='u', name='new')])
    nothing = record.Record()
    assert explained(WITHOUT, renamed, nothing).provider.name == 'u'
    assert explained(NOT_THERE, renamed, nothing).provider.name == 'new'


def test_without_providers_there_is_nothing_to_explain():
    assert explain.explain(TRAIT, {}, {}, record.Record()) == []


PRUNED = removal.Cause(reason=removal.Reason.PRUNED)
GONE = removal.Cause(reason=removal.Reason.NODE_GONE)


def removed(kind=Kind.TRAIT, name=TRAIT, uuid='u', cause=PRUNED):
    return change.Change(
        uuid=uuid,
        kind=kind,
        name=name,
        existed=True,
        exists=False,
        cause=cause,
    )


def test_the_cause_of_a_removal_is_told():
    one = explained(WITH, WITHOUT, recorded(), removed())
    assert (one.cause, one.why) == (PRUNED, 'removed by --prune')


def test_the_cause_of_its_providers_deletion_is_told():
    deletion = removed(kind=None, name='', cause=GONE)
    one = explained(WITH, NOT_THERE, recorded(), deletion)
    assert one.cause == GONE
    assert one.why == 'its provider is deleted: its node is gone'


@pytest.mark.parametrize(
    'changes',
    [
        [],
        [removed(cause=None)],
        [removed(name='CUSTOM_OTHER')],
        [removed(kind=Kind.INVENTORY)],
        [removed(uuid='another')],
    ],
)
def test_the_cause_of_another_removal_is_not_its_own(changes):
    one = explained(WITH, WITHOUT, recorded(), *changes)
    assert (one.cause, one.why) == (None, '')


def test_a_trait_that_stays_has_no_cause():
    one = explained(WITH, WITH, recorded(), removed())
    assert (one.cause, one.why) == (None, '')
