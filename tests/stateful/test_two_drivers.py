# SPDX-License-Identifier: Apache-2.0
"""Two drivers of one node, the second with rules: steps by hand.

Each fails by itself, and rules come and go. The judge of the random runs
notices an agent that lets one take what is the other's.
"""

import pytest
import world

from compute_agent.ownership import several_drivers
from drivers.host import driver as host
from drivers.host import rule_files
from drivers.host.facts import fact

IDLE = ('no cycle',)
CYCLE = ('cycle', 'two')
X, Y = world.CARDS


@pytest.fixture
def ruled(acting):
    """The machine, and what rules gave it at first."""
    now = acting.authors.now
    assert world.RULED in now[world.N4].traits
    assert 'CUSTOM_GOLD' not in now[world.N4].traits
    assert now[X].inventories['CUSTOM_LICENCE'].total == 2
    assert Y not in now
    return acting


def test_while_the_second_fails_the_first_goes_on_and_nothing_is_lost(ruled):
    for behaviour in ('raises', 'half'):
        ruled.step(change=('second driver', behaviour), then=IDLE)
        ruled.step(change=('rules in force', set()), then=CYCLE)
        name = 'CUSTOM_RED' if behaviour == 'half' else 'HW_CPU_X86_AVX2'
        more = ('traits', world.N4, 'root', 'declare', {name})
        ruled.step(change=more, then=CYCLE)
        held = ruled.authors.now
        assert held[world.N4].traits >= {name, world.RULED}
        assert X in held
    ruled.step(change=('second driver', 'tree'), then=CYCLE)
    assert world.RULED not in ruled.authors.now[world.N4].traits
    assert X not in ruled.authors.now


def test_while_the_first_fails_rules_come_and_go(ruled):
    ruled.step(change=('behaviour', world.N4, 'half'), then=IDLE)
    ruled.step(change=('cards', {'y': world.VENDOR}), then=IDLE)
    ruled.step(change=('fact of rules', True), then=CYCLE)
    held = ruled.authors.now
    assert held[world.N4].traits >= {'CUSTOM_GOLD', 'HW_CPU_X86_AVX'}
    assert X not in held
    assert held[Y].traits >= {world.MARKER, 'CUSTOM_RED'}
    assert held[world.N4].inventories['VCPU'].total == 8


@pytest.mark.parametrize('cards', [None, {'x': None}])
def test_a_card_that_is_unknown_stays(ruled, cards):
    ruled.step(change=('cards', cards), then=CYCLE)
    assert X in ruled.authors.now
    ruled.step(change=('cards', {}), then=CYCLE)
    assert X not in ruled.authors.now


def test_a_trait_that_both_give_goes_when_neither_does(ruled):
    gold = ('traits', world.N4, 'root', 'declare', {'CUSTOM_GOLD'})
    ruled.step(change=gold, then=IDLE)
    ruled.step(change=('fact of rules', True), then=CYCLE)
    nothing = ('traits', world.N4, 'root', 'update', set())
    ruled.step(change=nothing, then=CYCLE)
    assert 'CUSTOM_GOLD' in ruled.authors.now[world.N4].traits
    ruled.step(change=('fact of rules', False), then=CYCLE)
    assert 'CUSTOM_GOLD' not in ruled.authors.now[world.N4].traits


def ends(tree, record, sources):
    """End the claims of drivers that are to be kept."""
    several_drivers.release(tree, record, world.N4, sources, None)


def test_claims_of_a_driver_that_fails_must_not_end(ruled, monkeypatch):
    ruled.step(change=('second driver', 'raises'), then=IDLE)
    monkeypatch.setattr(several_drivers, 'keep', ends)
    monkeypatch.setattr(ruled, 'quiet', lambda: None)
    with pytest.raises(AssertionError, match='does not let it go'):
        ruled.step(change=('nothing',), then=CYCLE)


def test_a_trait_must_not_go_while_its_rule_is_in_force(ruled, monkeypatch):
    ruled.step(change=('rules in force', {'ruled'}), then=CYCLE)
    driver = ruled._stations['two'].ruled
    none = rule_files.Rules(rule_files.RuleSet, host.WORDS)
    monkeypatch.setattr(driver, '_rules', none)
    monkeypatch.setattr(ruled, 'quiet', lambda: None)
    with pytest.raises(AssertionError, match=f'a rule gives {world.RULED}'):
        ruled.step(change=('nothing',), then=CYCLE)


def test_cards_that_cannot_be_listed_must_not_go(ruled, monkeypatch):
    driver = ruled._stations['two'].ruled
    ruled.step(change=('cards', None), then=IDLE)
    monkeypatch.setattr(
        driver,
        '_facts',
        lambda: fact.Facts(facts={}, devices={'pci': ()}),
    )
    monkeypatch.setattr(ruled, 'quiet', lambda: None)
    with pytest.raises(AssertionError, match='does not let it go'):
        ruled.step(change=('nothing',), then=CYCLE)
