# SPDX-License-Identifier: Apache-2.0
"""After a crash: which of the intended writes were done, by what is there."""

import dataclasses

import pytest

from compute_agent.plan import intents
from compute_agent.tree import inventory, provider
from compute_agent.tree.assertion import Kind

ONE = inventory.Inventory(total=1)
EXISTING = provider.Provider(
    uuid='u',
    name='n',
    generation=7,
    traits=frozenset({'A'}),
    inventories={'VCPU': ONE, 'DISK_GB': ONE},
)
FIELDS = {Kind.TRAIT: 'traits', Kind.AGGREGATE: 'aggregates'}


def intent(kind, generation, names='', added='', node='n'):
    return intents.Intent(
        node_uuid=node,
        uuid='u',
        kind=kind,
        generation=generation,
        names=frozenset(names.split()),
        added=frozenset(added.split()),
    )


# A provider is created and filled; another one shrinks, is relabelled, grows.
CREATED = (
    intent(None, 0),
    intent(Kind.TRAIT, 1, 'A B', 'A B'),
    intent(Kind.AGGREGATE, 2, 'agg', 'agg'),
    intent(Kind.INVENTORY, 3, 'VCPU', 'VCPU'),
)
CHANGED = (
    intent(Kind.INVENTORY, 8, 'VCPU'),
    intent(Kind.TRAIT, 9, 'A B', 'B'),
    intent(Kind.AGGREGATE, 10, 'agg', 'agg'),
    intent(Kind.INVENTORY, 11, 'VCPU CUSTOM_GOLD', 'CUSTOM_GOLD'),
)
CHAINS = {'created': (None, CREATED), 'changed': (EXISTING, CHANGED)}


def committed(before, intents):
    """Return the provider after these writes; None where there is none."""
    one = before
    for write in intents:
        if write.kind is None:
            one = provider.Provider(uuid='u', name='n')
        elif write.kind is Kind.INVENTORY:
            one = dataclasses.replace(
                one, inventories=dict.fromkeys(sorted(write.names), ONE)
            )
        else:
            one = dataclasses.replace(one, **{FIELDS[write.kind]: write.names})
        one = dataclasses.replace(one, generation=write.generation)
    return one


def points():
    """Every chain, cut off before, between and after its writes."""
    return [
        pytest.param(before, chain, done, id=f'{name}-{done}')
        for name, (before, chain) in CHAINS.items()
        for done in range(len(chain) + 1)
    ]


@pytest.mark.parametrize(('before', 'chain', 'done'), points())
def test_what_was_committed_is_done_and_what_was_not_is_dropped(
    before, chain, done
):
    seen = committed(before, chain[:done])
    assert intents.reconcile(chain, seen, in_own_tree=True) == intents.Outcome(
        done=chain[:done], dropped=chain[done:]
    )


# What another writer did after that; each raises the generation by one.
OTHERS = {
    'an allocation': {},
    'another trait': {'traits': frozenset({'A', 'B', 'X'})},
    'another aggregate': {'aggregates': frozenset({'other'})},
    'another class': {'inventories': {'VCPU': ONE, 'CUSTOM_X': ONE}},
}


def written(seen, change, times=1):
    """Return the provider after another writer's writes."""
    return dataclasses.replace(
        seen, generation=seen.generation + times, **change
    )


def sent_and_shown(chain, done, seen):
    """Return the writes that took place and whose set is still there."""
    return tuple(
        write
        for write in chain[:done]
        if write.kind is None or seen.names_of(write.kind) == write.names
    )


@pytest.mark.parametrize('times', [1, 2, 9])
@pytest.mark.parametrize('change', OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize(('before', 'chain', 'done'), points())
def test_a_set_that_is_as_it_was_sent_is_ours_whoever_wrote_since(
    before, chain, done, change, times
):
    seen = committed(before, chain[:done])
    if seen is None:
        return
    seen = written(seen, change, times)
    settled = intents.reconcile(chain, seen, in_own_tree=True)
    shown = {
        name
        for write in sent_and_shown(chain, done, seen)
        for name in write.added
    }
    ours = {name for write in settled.done for name in write.added}
    assert ours == shown
    assert set(settled.done) | set(settled.dropped) == set(chain)
    doubtful = {
        name
        for write in chain
        if write.kind is not None
        for name in write.added & seen.names_of(write.kind)
    } - shown
    assert len(settled.notes) == bool(doubtful)
    for note in settled.notes:
        listed = ', '.join(sorted(doubtful))
        assert note.startswith('n (u): a write was interrupted')
        assert f'whether it added {listed}; they count as' in note


@pytest.mark.catches("names left by an interrupted write count as the agent's")
def test_a_set_that_another_changed_since_is_not_ours_and_that_is_said():
    seen = written(
        committed(EXISTING, CHANGED[:2]), {'traits': frozenset('ABX')}
    )
    settled = intents.reconcile(CHANGED, seen)
    assert not any('B' in write.added for write in settled.done)
    (note,) = settled.notes
    assert 'cannot tell whether it added B;' in note


def test_a_set_at_a_lower_generation_than_intended_is_another_s():
    only = CHANGED[1:2]
    seen = dataclasses.replace(
        EXISTING, generation=8, traits=frozenset({'A', 'B'})
    )
    settled = intents.reconcile(only, seen)
    assert settled.done == ()
    assert len(settled.notes) == 1


@pytest.mark.parametrize('times', [0, 1, 7])
@pytest.mark.parametrize('done', [1, 2, 3, 4])
def test_a_creation_in_the_node_s_own_tree_is_known_by_its_uuid(done, times):
    seen = written(committed(None, CREATED[:done]), {}, times)
    settled = intents.reconcile(CREATED, seen, in_own_tree=True)
    assert settled.done == CREATED[:done]
    assert settled.notes == ()


@pytest.mark.catches(
    'a shared root is claimed after a crash, whoever created it'
)
@pytest.mark.parametrize('times', [0, 1])
@pytest.mark.parametrize('done', [2, 3, 4])
def test_elsewhere_a_creation_is_ours_only_while_nobody_wrote(done, times):
    """Its executor would have recorded the answer before it wrote more."""
    seen = written(committed(None, CREATED[:done]), {}, times)
    settled = intents.reconcile(CREATED, seen)
    assert settled.done == ()
    assert settled.dropped == CREATED
    (note,) = settled.notes
    assert note.startswith('n (u): its creation got no answer')
    assert 'compute-agent resource provider adopt u' in note


MARK = 'CUSTOM_COMPUTE_AGENT_RACK1_0123456789AB'
OTHER_MARK = 'CUSTOM_COMPUTE_AGENT_RACK1_BA9876543210'
MARKED = (
    CREATED[0],
    intent(Kind.TRAIT, 1, f'A {MARK}', f'A {MARK}'),
    *CREATED[2:],
)


@pytest.mark.catches('the mark of an agent proves no creation')
@pytest.mark.parametrize('change', OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize('times', [0, 1, 7])
@pytest.mark.parametrize('done', [2, 3, 4])
def test_elsewhere_a_creation_is_ours_if_it_has_our_mark(done, times, change):
    seen = committed(None, MARKED[:done])
    if times and 'traits' not in change:
        seen = written(seen, change, times)
    settled = intents.reconcile(MARKED, seen)
    assert MARKED[0] in settled.done
    assert set(settled.done) == set(sent_and_shown(MARKED, done, seen))


@pytest.mark.catches('any mark proves a creation')
@pytest.mark.parametrize('traits', [f'A {OTHER_MARK}', OTHER_MARK])
def test_the_mark_of_another_agent_is_no_proof(traits):
    seen = dataclasses.replace(
        committed(None, MARKED[:1]),
        generation=1,
        traits=frozenset(traits.split()),
    )
    settled = intents.reconcile(MARKED, seen)
    assert settled.done == ()
    assert settled.dropped == MARKED


def test_elsewhere_a_creation_that_nobody_wrote_to_is_ours():
    seen = committed(None, CREATED[:1])
    assert intents.reconcile(CREATED, seen) == intents.Outcome(
        done=CREATED[:1], dropped=CREATED[1:]
    )


def test_names_that_are_gone_are_dropped_without_a_word():
    seen = written(committed(EXISTING, CHANGED[:2]), {'traits': frozenset()})
    settled = intents.reconcile(CHANGED, seen)
    assert not any(write.added for write in settled.done)
    assert settled.notes == ()


def test_a_provider_that_is_gone_takes_its_intents_with_it():
    assert intents.reconcile(CHANGED, None) == intents.Outcome(dropped=CHANGED)


def test_a_generation_below_all_of_them_means_that_none_was_done():
    seen = dataclasses.replace(EXISTING, generation=2)
    assert intents.reconcile(CHANGED, seen) == intents.Outcome(dropped=CHANGED)


def test_a_provider_made_anew_by_another_is_not_taken_for_ours():
    anew = provider.Provider(
        uuid='u', name='n', generation=2, traits=frozenset({'X'})
    )
    assert intents.reconcile(CHANGED, anew) == intents.Outcome(dropped=CHANGED)


def test_the_same_set_written_by_another_cannot_be_told_apart():
    only = CHANGED[1:2]
    seen = dataclasses.replace(
        EXISTING, generation=9, traits=frozenset({'A', 'B'})
    )
    assert intents.reconcile(only, seen) == intents.Outcome(done=only)


def test_without_intents_there_is_nothing_to_settle():
    assert intents.reconcile((), EXISTING) == intents.Outcome()
    assert intents.reconcile((), None) == intents.Outcome()


def relabelled(*names, node='n', generation=8):
    every = ' '.join(('A', *names))
    return intent(Kind.TRAIT, generation, every, ' '.join(names), node)


@pytest.mark.parametrize('turn', [1, -1])
def test_the_writes_of_two_nodes_are_told_apart(turn):
    """Both were to follow on the same read, so only one of them was done."""
    done, other = relabelled('B'), relabelled('C', node='m')
    seen = committed(EXISTING, [done])
    settled = intents.reconcile([done, other][::turn], seen)
    assert settled == intents.Outcome(done=(done,), dropped=(other,))


def test_of_two_nodes_neither_is_done_where_the_provider_is_gone():
    both = (relabelled('B'), relabelled('C', node='m'))
    assert intents.reconcile(both, None) == intents.Outcome(dropped=both)


def test_each_node_has_a_note_of_its_own():
    both = (relabelled('B'), relabelled('C', node='m'))
    seen = dataclasses.replace(
        EXISTING, generation=11, traits=frozenset({'A', 'B', 'C'})
    )
    notes = intents.reconcile(both, seen).notes
    added = [note.split('; ')[0].split()[-1] for note in notes]
    assert added == ['B', 'C']


FAILED = intent(Kind.INVENTORY, 8, 'VCPU')
RETRIED = (
    FAILED,
    relabelled('B'),
    intent(Kind.AGGREGATE, 9, 'agg', 'agg'),
)


@pytest.mark.parametrize('done', [1, 2])
def test_what_follows_a_failed_write_leads_to_where_that_was_to_lead(done):
    """After a 500 it is not known whether it was done; this shows it not."""
    seen = committed(EXISTING, RETRIED[1 : done + 1])
    assert intents.reconcile(RETRIED, seen) == intents.Outcome(
        done=RETRIED[1 : done + 1],
        dropped=(FAILED, *RETRIED[done + 1 :]),
    )


def test_a_failed_write_that_was_done_nevertheless_is_done():
    seen = committed(EXISTING, [FAILED])
    assert intents.reconcile(RETRIED, seen) == intents.Outcome(
        done=(FAILED,), dropped=RETRIED[1:]
    )


def test_names_of_each_kind_come_from_their_field():
    one = committed(None, CREATED)
    assert one.names_of(Kind.TRAIT) == {'A', 'B'}
    assert one.names_of(Kind.AGGREGATE) == {'agg'}
    assert one.names_of(Kind.INVENTORY) == {'VCPU'}
