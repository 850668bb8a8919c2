# SPDX-License-Identifier: Apache-2.0
"""Each folder of tests/rules: facts and rules give the expected providers.

The folders that begin with ``starter-`` use the rules that ship.
"""

import pathlib

import os_traits
import pytest
import rule_cases

from drivers.host import rule_files
from drivers.host.facts import catalogue
from drivers.host.rules import rule
from drivers.host.rules.rule import Verdict

CASES = pathlib.Path(__file__).parents[4] / 'rules'
STARTER = 'starter-'
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())


def _outcomes(case, tmp_path):
    """Return the outcomes of the rules that a case has."""
    facts = rule_cases.facts_of(rule_cases.load(CASES / case / 'facts.yaml'))
    starter = case.startswith(STARTER)
    words = (
        rule.Vocabulary.of_names(catalogue.ENTRIES)
        if starter
        else rule_cases.words_of(facts)
    )
    (tmp_path / 'rules.yaml').write_text(
        (CASES / case / 'rules.yaml').read_text()
    )
    rules = rule_files.read(str(tmp_path), words, given=True, starter=starter)
    return rule_cases.outcomes(facts, rules, words)


@pytest.mark.parametrize('case', NAMES)
def test_facts_and_rules_give_the_expected_providers(case, tmp_path):
    before = rule_cases.load(CASES / case / 'before.yaml')
    tree = rule_cases.placed(_outcomes(case, tmp_path), before)
    tree.faults = [f.replace(f'{tmp_path}/', '') for f in tree.faults]
    assert rule_cases.described(tree) == {
        'traits': [],
        'children': {},
        **rule_cases.load(CASES / case / 'expected.yaml'),
    }


def test_each_starter_rule_gives_its_names_in_a_case(tmp_path):
    seen: dict[str, set[bool]] = {}
    for case in NAMES:
        if case.startswith(STARTER):
            for outcome in _outcomes(case, tmp_path):
                gives = outcome.verdict is Verdict.GIVES
                seen.setdefault(outcome.rule.name, set()).add(gives)
    words = rule.Vocabulary.of_names(catalogue.ENTRIES)
    shipped = rule_files.read(str(tmp_path / 'none'), words, given=False)
    assert {rule.name for rule in shipped.rules} == seen.keys()
    idle = {name for name, found in seen.items() if True not in found}
    assert not idle


def test_starter_rules_give_names_that_are_free_for_a_companion(tmp_path):
    words = rule.Vocabulary.of_names(catalogue.ENTRIES)
    shipped = rule_files.read(str(tmp_path / 'none'), words, given=False)
    on = [rule for rule in shipped.rules if rule.enabled]
    standard = {
        trait.template.text
        for rule in shipped.rules
        for trait in rule.traits
        if not trait.template.text.startswith('CUSTOM_')
    }
    assert standard <= set(os_traits.get_traits())
    assert not {t for t in standard if t.startswith(('COMPUTE_', 'OWNER_'))}
    assert all(rule.child is None for rule in on)
