# SPDX-License-Identifier: Apache-2.0
"""add_*, remove_* and update_* mean over many cycles what they mean in nova."""

import dataclasses

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.ownership import resolve as ownership
from compute_agent.ownership.policy import Policy
from compute_agent.ownership.record import Record
from compute_agent.tree import provider, provider_tree
from compute_agent.tree.assertion import Kind

ROOT = '00000000-0000-0000-0000-000000000001'
AGGREGATES = [f'00000000-0000-0000-0000-0000000000a{n}' for n in range(3)]
NAMES = {Kind.TRAIT: ['A', 'B', 'HW_C'], Kind.AGGREGATE: AGGREGATES}
FIELDS = {Kind.TRAIT: 'traits', Kind.AGGREGATE: 'aggregates'}
TRAITS = (ROOT, Kind.TRAIT)
FILE = 'file:/etc/nova/provider_config/a.yaml'


class World:
    """A root in placement, and the record of an agent, over many cycles."""

    def __init__(self, traits='', authority=()):
        self.root = provider.Provider(
            uuid=ROOT, name='root', traits=frozenset(traits)
        )
        self.record = Record()
        self.policy = Policy(authority={'driver': authority})

    def change(self, kind, names):
        """Let others set the names of one kind."""
        field = {FIELDS[kind]: frozenset(names)}
        self.root = dataclasses.replace(self.root, **field)

    def cycle(self, edit, source='driver'):
        """Let a source edit the tree, and do what follows."""
        before = self.root
        tree = provider_tree.ProviderTree.from_providers([before])
        with tree.asserting(source):
            edit(tree)
        self._forget_the_absent()
        done = ownership.resolve(tree, ROOT, self.record, self.policy)
        self.root = done.after[ROOT]
        ours = dict(self.record.ours)
        for kind in Kind:
            was, now = before.names_of(kind), self.root.names_of(kind)
            known = ours.get((ROOT, kind), frozenset())
            ours[ROOT, kind] = (known | (now - was)) & now
        self.record = Record(
            ours=ours, claims={**self.record.claims, **done.claims}
        )
        return done

    def claimed(self, source='driver'):
        return self.record.claims.get(TRAITS, {}).get(source)

    def _forget_the_absent(self):
        """A name that is gone is not ours any more, as the database has it."""
        ours = {
            key: names & self.root.names_of(key[1])
            for key, names in self.record.ours.items()
        }
        self.record = dataclasses.replace(self.record, ours=ours)


def say_nothing(tree):
    """Edit nothing."""


def add(*names):
    return lambda tree: tree.add_traits('root', *names)


def remove(*names):
    return lambda tree: tree.remove_traits('root', *names)


def declare(*names):
    return lambda tree: tree.declare_traits('root', *names)


@pytest.mark.catches('adding a name ends the claims on all others')
def test_a_name_added_once_stays():
    world = World('X')
    world.cycle(add('A', 'ONCE'))
    for edit in (add('A'), say_nothing, add(), remove('Z'), add('B')):
        world.cycle(edit)
        assert world.root.traits >= {'A', 'ONCE', 'X'}
        assert world.claimed() >= {'A', 'ONCE'}


def test_adding_what_is_missing_writes_once():
    def body(tree):
        tree.add_traits('root', 'A')
        if not tree.has_traits('root', ['ONCE']):
            tree.add_traits('root', 'ONCE')

    world = World()
    world.cycle(body)
    for _ in range(3):
        before = world.root
        assert world.cycle(body).claims == {}
        assert world.root == before


def test_removing_a_name_touches_no_other():
    world = World('X')
    world.cycle(add('X1', 'X2'))
    world.cycle(remove('X1'))
    assert world.root.traits == {'X', 'X2'}
    assert world.claimed() == {'X2'}


def test_a_removal_is_not_remembered():
    world = World('X')
    world.cycle(remove('X'))
    assert world.root.traits == set()
    world.change(Kind.TRAIT, 'X')
    world.cycle(say_nothing)
    world.cycle(add('A'))
    assert world.root.traits == {'X', 'A'}


@pytest.mark.parametrize(
    ('edit', 'left'),
    [
        (declare('B'), {'X', 'B'}),
        (declare(), {'X'}),
        (lambda tree: tree.update_traits('root', ['B']), {'B'}),
        (remove('A'), {'X'}),
    ],
)
def test_a_claim_by_addition_ends_with(edit, left):
    world = World('X')
    world.cycle(add('A'))
    world.cycle(edit)
    assert world.root.traits == left
    assert world.claimed() == left - {'X'}


@pytest.mark.catches('a claim on a name that is gone never ends')
@pytest.mark.parametrize('edit', [say_nothing, add('B'), remove('B')])
def test_a_name_gone_and_not_asserted_is_left_gone(edit):
    world = World()
    world.cycle(add('A'))
    world.change(Kind.TRAIT, '')
    world.cycle(edit)
    assert 'A' not in world.root.traits
    assert 'A' not in world.claimed()
    world.change(Kind.TRAIT, 'A')  # from now on an operator's
    world.cycle(declare())
    assert world.root.traits == {'A'}


@pytest.mark.parametrize('verb', [add, declare])
def test_a_name_gone_and_asserted_is_restored(verb):
    world = World()
    world.cycle(verb('A'))
    world.change(Kind.TRAIT, '')
    world.cycle(verb('A'))
    assert world.root.traits == {'A'}
    assert world.claimed() == {'A'}


def test_who_cannot_tell_keeps_claims_on_what_is_gone():
    world = World()
    world.cycle(add('A'))
    world.change(Kind.TRAIT, '')
    world.cycle(lambda tree: tree.keep_traits('root'))
    assert world.root.traits == set()
    assert world.claimed() == {'A'}


def test_only_a_driver_leaves_names_unrepeated():
    world = World()
    world.cycle(declare('A'), FILE)
    world.change(Kind.TRAIT, '')
    world.cycle(say_nothing)
    assert world.claimed(FILE) == {'A'}


@pytest.mark.parametrize(
    ('edit', 'left'),
    [
        (add('B'), {'B', 'HW_A', 'HW_C'}),
        (remove('HW_C'), {'HW_A'}),
        (say_nothing, {'HW_A', 'HW_C'}),
        (declare('B'), {'B'}),
        (lambda tree: tree.update_traits('root', ['HW_A']), {'HW_A'}),
    ],
)
def test_authority_is_about_all_names_at_once(edit, left):
    world = World({'HW_A', 'HW_C'}, authority=('HW_*',))
    world.cycle(edit)
    assert world.root.traits == left


def test_a_driver_that_only_adds_is_told_of_no_names_that_stay():
    world = World({'OTHERS'})
    assert world.cycle(add('A')).notes == ()
    world = World({'OTHERS'})
    assert len(world.cycle(declare('A')).notes) == 1


def test_several_calls_apply_in_their_order():
    def body(tree):
        tree.add_traits('root', 'A')
        tree.declare_traits('root', 'B', 'C')
        tree.remove_traits('root', 'B', 'X')
        tree.add_traits('root', 'D')

    world = World('X')
    world.cycle(add('OLD'))
    world.cycle(body)
    assert world.root.traits == {'C', 'D'}
    assert world.claimed() == {'C', 'D'}


# --- against a model ---------------------------------------------------------


def calls(kind):
    """One call of a driver, or one change of others."""
    one = st.sampled_from(NAMES[kind])
    some = st.sets(one).map(sorted)
    field = FIELDS[kind]
    return st.one_of(
        st.tuples(st.just(f'add_{field}'), some),
        st.tuples(st.just(f'remove_{field}'), some),
        st.tuples(st.just(f'update_{field}'), some),
        st.tuples(st.just('once'), one),
        st.tuples(st.just('flip'), one),
    )


def nova(held, verb, given):
    """Return what nova's tree has after a call."""
    match verb.split('_')[0]:
        case 'add':
            return held | set(given)
        case 'remove':
            return held - set(given)
        case 'update':
            return set(given)
        case 'once':
            return held | {given}
    return held ^ {given}


def call(tree, kind, verb, given):
    """Do the same with the verbs of the tree, as a driver would."""
    field = FIELDS[kind]
    if verb.startswith('update_'):
        getattr(tree, verb)('root', given)
    elif verb in {'once', 'flip'}:
        has = given in getattr(tree.data('root'), field)
        if not has:
            getattr(tree, f'add_{field}')('root', given)
        elif verb == 'flip':
            getattr(tree, f'remove_{field}')('root', given)
    else:
        getattr(tree, verb)('root', *given)


cycles = st.sampled_from(list(NAMES)).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(
            st.tuples(
                st.none() | st.sets(st.sampled_from(NAMES[kind])),
                st.lists(calls(kind), max_size=4),
            ),
            max_size=6,
        ),
    )
)


@settings(max_examples=examples(400), deadline=None)
@given(cycles)
def test_placement_ends_as_novas_tree_does(drawn):
    kind, script = drawn
    world = World(authority=('HW_*',))
    for others, body in script:
        if others is not None:
            world.change(kind, others)
        expected = set(world.root.names_of(kind))
        shown = []

        def edit(tree, body=body, shown=shown):
            for verb, given_names in body:
                call(tree, kind, verb, given_names)
            shown.append(set(getattr(tree.data('root'), FIELDS[kind])))

        for verb, given_names in body:
            expected = nova(expected, verb, given_names)
        world.cycle(edit)
        assert shown == [expected]
        assert world.root.names_of(kind) == expected
        world.cycle(say_nothing)
        assert world.root.names_of(kind) == expected
