# SPDX-License-Identifier: Apache-2.0
"""A decision names the facts that it lacks, and is made when it has them."""

import dataclasses

import pytest

from compute_agent.cycle.planning import decide
from compute_agent.ownership.policy import Orders, Policy
from compute_agent.ownership.record import Record
from compute_agent.plan.needs import NOTHING, Known, Needs
from compute_agent.plan.observation import Observation
from compute_agent.plan.operations import operations
from compute_agent.tree import inventory, provider
from compute_agent.tree.assertion import Kind
from compute_agent.tree.names import KnownNames

NODE = '11111111-1111-4111-8111-111111111111'
CONSUMER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
AVX = 'HW_CPU_X86_AVX'
WAS = provider.Provider(
    uuid=NODE,
    name='node',
    generation=3,
    traits=frozenset({AVX}),
    inventories={'VCPU': inventory.Inventory(total=8)},
)
HELD = {
    (NODE, Kind.TRAIT): {'driver': frozenset({AVX})},
    (NODE, Kind.INVENTORY): {'driver': frozenset({'VCPU'})},
}
NAMES = KnownNames(
    traits=frozenset({AVX}), resource_classes=frozenset({'VCPU'})
)


def inputs(now, edit, claims=HELD):
    """Return the inputs where placement has this provider, or none."""
    providers = provider.snapshot([now] if now else [])
    seen = Observation(
        node_uuid=NODE, providers=providers, home=frozenset(providers)
    )
    tree = seen.tree()
    edit(tree)
    record = Record(claims=claims, was={NODE: WAS} if now else {})
    return decide.Inputs(tree=tree, seen=seen, record=record, policy=Policy())


def described(tree):
    tree.declare_traits(NODE, AVX)
    tree.update_inventory(NODE, {'VCPU': {'total': 8}})


def without_inventory(tree):
    tree.declare_traits(NODE, AVX)
    tree.update_inventory(NODE, {})


def new_root(tree):
    tree.new_root('node', NODE)
    tree.declare_traits(NODE, AVX)


def without_traits(**now):
    return provider.Provider(
        uuid=NODE,
        name='node',
        generation=3,
        inventories=WAS.inventories,
        **now,
    )


def test_nothing_is_lacking_where_nothing_changes():
    decision = decide.decide(inputs(WAS, described), NOTHING)
    assert decision.made.plan.operations == ()
    assert decision.is_repeatable


@pytest.mark.parametrize(
    ('now', 'edit', 'known', 'lacks'),
    [
        (
            without_traits(),
            described,
            NOTHING,
            {'authors': frozenset({(NODE, Kind.TRAIT, AVX)})},
        ),
        (WAS, without_inventory, NOTHING, {'consumers': (WAS,)}),
        (None, new_root, NOTHING, {'names': True}),
        (None, new_root, Known(names=NAMES), {'roots': {NODE: 'node'}}),
    ],
    ids=['authors', 'consumers', 'names', 'roots'],
)
def test_it_names_what_it_lacks(now, edit, known, lacks):
    claims = HELD if now else {}
    found = decide.decide(inputs(now, edit, claims), known)
    assert found == Needs(node_uuid=NODE, **lacks)


def test_a_new_root_is_created_when_its_name_is_free():
    known = Known(names=NAMES, roots=frozenset({NODE}))
    decision = decide.decide(inputs(None, new_root, {}), known)
    first, *_ = decision.made.plan.operations
    assert isinstance(first, operations.CreateProvider)


@pytest.mark.parametrize('author', ['', 'a command'])
def test_only_other_writers_undo_something(author):
    named = (NODE, Kind.TRAIT, AVX)
    known = Known(authors={named: author}, names=NAMES)
    decision = decide.decide(inputs(without_traits(), described), known)
    assert decision.undone == (frozenset() if author else {named})
    (note,) = decision.made.plan.notes
    assert f'removed by {author or "another writer"}' in note


def test_what_is_in_use_stays_and_is_at_stake():
    used = {NODE: {'VCPU': frozenset({CONSUMER})}}
    decision = decide.decide(
        inputs(WAS, without_inventory), Known(consumers=used)
    )
    (reserved,) = decision.made.plan.operations
    assert reserved.inventories['VCPU'].reserved == 8
    assert decision.at_stake == (WAS,)


def reserving(edit, **seen):
    """Return what is reserved before a person allows the first write."""
    given = dataclasses.replace(inputs(WAS, edit, {}), asks=True)
    given = dataclasses.replace(
        given,
        seen=dataclasses.replace(given.seen, **seen),
        policy=Policy(orders=Orders(prune=['VCPU'])),
    )
    used = {NODE: {'VCPU': frozenset({CONSUMER})}}
    made = decide.decide(given, Known(consumers=used, names=NAMES)).made
    assert made.takeovers
    return made.reserving


def out_of_service(tree):
    tree.update_inventory(NODE, {'VCPU': {'total': 8, 'reserved': 8}})


def test_only_a_reservation_that_is_described_needs_no_yes():
    (reserved,) = reserving(out_of_service).operations
    assert reserved.inventories['VCPU'].reserved == 8
    assert reserving(without_inventory) is None
    assert reserving(out_of_service, home=frozenset()) is None


def test_the_cause_of_a_removal_outlives_its_failed_attempt():
    """The attempt ended the claim, so the record tells no source any more."""

    def bare(tree):
        tree.declare_traits(NODE)
        tree.update_inventory(NODE, {'VCPU': {'total': 8}})

    ours = {(NODE, Kind.TRAIT): frozenset({AVX})}
    given = inputs(WAS, bare)
    first = decide.decide(
        dataclasses.replace(given, record=Record(claims=HELD, ours=ours)),
        NOTHING,
    )
    again = decide.decide(
        dataclasses.replace(
            given, record=Record(ours=ours), memory=first.memory
        ),
        NOTHING,
    )
    (before,), (after,) = (
        first.made.plan.operations,
        again.made.plan.operations,
    )
    assert before == after
    assert again.memory == first.memory


def test_facts_add_up():
    more = Known(names=NAMES, authors={(NODE, Kind.TRAIT, AVX): 'me'})
    both = Known(roots=frozenset({NODE})).plus(more)
    assert both.names is NAMES
    assert both.roots == {NODE}
    assert both.plus(NOTHING) == both
