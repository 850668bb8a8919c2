# SPDX-License-Identifier: Apache-2.0
"""Which names placement must know first; the rest is in tests/plans."""

import dataclasses

import pytest

from compute_agent.plan.diff import diff
from compute_agent.plan.operations import operations as ops
from compute_agent.plan.plan import Plan
from compute_agent.tree import assertion, inventory, names, provider

NOTHING_KNOWN = names.KnownNames(
    traits=frozenset(), resource_classes=frozenset()
)


def snapshot(*holders):
    """Providers with these traits and classes, each 'A B/VCPU'."""
    made = []
    for number, held in enumerate(holders):
        traits, _, classes = held.partition('/')
        made.append(
            provider.Provider(
                uuid=f'u{number}',
                name=f'n{number}',
                traits=frozenset(traits.split()),
                inventories={
                    rc: inventory.Inventory(total=1) for rc in classes.split()
                },
            )
        )
    return provider.snapshot(made)


@pytest.mark.parametrize(
    ('before', 'after', 'answer'),
    [
        ([], [], False),
        ([], ['/'], False),
        (['A/VCPU'], ['A/VCPU'], False),
        (['A/VCPU'], ['/'], False),
        (['A/VCPU', ''], ['', 'A/VCPU'], False),
        (['A/VCPU'], ['A B/VCPU'], True),
        (['A/VCPU'], ['A/VCPU PCPU'], True),
        (['A/'], ['/A'], True),
        (['/A'], ['A/'], True),
    ],
)
def test_a_name_is_new_when_no_provider_had_it(before, after, answer):
    assert diff.adds_names(snapshot(*before), snapshot(*after)) is answer


def test_where_all_is_known_what_is_wanted_comes_back_itself():
    after = snapshot('HW_A CUSTOM_A/VCPU CUSTOM_GOLD')
    known = names.KnownNames(
        traits=frozenset({'HW_A', 'CUSTOM_A'}),
        resource_classes=frozenset({'VCPU', 'CUSTOM_GOLD'}),
    )
    assert diff.admit({}, after, known) == (after, (), [])


def test_what_is_known_as_one_kind_is_not_known_as_the_other():
    known = names.KnownNames(
        traits=frozenset({'CUSTOM_A'}),
        resource_classes=frozenset({'CUSTOM_B'}),
    )
    _, create, _ = diff.admit({}, snapshot('CUSTOM_B/CUSTOM_A'), known)
    assert [(type(op).__name__, op.name) for op in create] == [
        ('CreateTrait', 'CUSTOM_B'),
        ('CreateResourceClass', 'CUSTOM_A'),
    ]


def test_the_bare_prefix_is_no_custom_name_and_so_left_out():
    after, create, notes = diff.admit(
        {}, snapshot('CUSTOM_/CUSTOM_'), NOTHING_KNOWN
    )
    assert after == snapshot('')
    assert create == ()
    assert notes[0].startswith('CUSTOM_: left out')


def test_all_but_the_unknown_names_stays_on_every_provider():
    after, _, notes = diff.admit(
        snapshot('HW_B/VCPU', ''),
        snapshot('HW_A HW_B/VCPU', 'HW_A CUSTOM_A/ZPU'),
        NOTHING_KNOWN,
    )
    assert after == snapshot('HW_B/VCPU', 'CUSTOM_A')
    assert [note.partition(':')[0] for note in notes] == ['HW_A', 'ZPU']


def test_what_is_wanted_itself_is_not_changed():
    after = snapshot('HW_A')
    diff.admit({}, after, NOTHING_KNOWN)
    assert after == snapshot('HW_A')


@pytest.mark.parametrize('kind', ['traits', 'resource_classes'])
def test_a_name_is_known_as_what_it_is_to_be(kind):
    known = dataclasses.replace(NOTHING_KNOWN, **{kind: frozenset({'A'})})
    created = {
        'traits': ops.CreateTrait,
        'resource_classes': ops.CreateResourceClass,
    }
    answers = {
        of: ops.is_known(create(name='A'), known)
        for of, create in created.items()
    }
    assert answers == {of: of == kind for of in created}


@pytest.mark.parametrize(
    ('what', 'content', 'answer'),
    [
        ('operations', (), False),
        ('operations', (ops.CreateTrait(name='CUSTOM_A'),), True),
        ('notes', ('a line',), True),
        ('faults', ('a line',), True),
        ('claims', {('u0', assertion.Kind.TRAIT): {}}, False),
    ],
)
def test_a_plan_has_a_reader_if_it_does_or_says_something(
    what, content, answer
):
    empty = Plan(node_uuid='u0', operations=(), before={})
    one = dataclasses.replace(empty, **{what: content})
    assert one.says_anything() is answer
