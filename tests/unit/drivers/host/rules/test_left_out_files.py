# SPDX-License-Identifier: Apache-2.0
"""While a rule file is left out, rules take nothing and begin nothing."""

import rule_cases

from compute_agent.tree import assertion
from drivers.host import rule_files

CARDS = """
rules:
- name: cards
  for_each: net
  child: '{node}_cards'
  traits: [CUSTOM_CARD]
  inventory: {CUSTOM_CARD: 1, CUSTOM_PORT: 4}
"""
BEFORE = {
    'children': {
        'cn1_cards': {
            'traits': ['CUSTOM_RULE_CARDS', 'CUSTOM_RULE_LOST', 'CUSTOM_LOST'],
            'inventory': {
                'CUSTOM_CARD': {'total': 2},
                'CUSTOM_LOST': {'total': 3},
            },
        }
    }
}


def _placed(folder, before):
    """Return the providers while the file b.yaml is left out."""
    (folder.path / 'b.yaml').symlink_to('a.yaml')
    in_force = rule_files.Rules(folder.read, folder.words)
    tree = rule_cases.tree_of(before)
    in_force.place(tree, rule_cases.NODE, folder.facts)
    return tree


def _claims(tree, name):
    """Return the traits that rules claim, besides all that they claimed."""
    (claimed,) = (
        sources['driver']
        for (uuid, kind), sources in tree.assertions.items()
        if uuid == tree.data(name).uuid and kind is assertion.Kind.TRAIT
    )
    assert claimed.keep
    return claimed.names


def test_a_child_loses_no_class_no_trait_and_no_amount(folder):
    folder.write(CARDS)
    tree = _placed(folder, BEFORE)
    assert _claims(tree, 'cn1_cards') == {'CUSTOM_CARD', 'CUSTOM_RULE_CARDS'}
    child = rule_cases.described(tree)['children']['cn1_cards']
    assert child['inventory'] == {
        'CUSTOM_CARD': {'total': 2},
        'CUSTOM_LOST': {'total': 3},
        'CUSTOM_PORT': {'total': 4},
    }


def test_a_rule_that_gave_nothing_begins_nothing(folder):
    folder.write(f'{CARDS}- name: good\n  traits: [CUSTOM_GOOD]\n')
    tree = _placed(folder, {'traits': ['CUSTOM_X']})
    assert not _claims(tree, rule_cases.NODE)
    assert not tree.exists('cn1_cards')


def test_a_rule_that_gave_its_trait_before_keeps_it(folder):
    folder.write('rules:\n- name: good\n  traits: [CUSTOM_GOOD]\n')
    tree = _placed(folder, {'traits': ['CUSTOM_GOOD']})
    assert _claims(tree, rule_cases.NODE) == {'CUSTOM_GOOD'}
