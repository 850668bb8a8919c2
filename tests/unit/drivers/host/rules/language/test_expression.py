# SPDX-License-Identifier: Apache-2.0
"""An expression reads the names that CEL would, and compiles quickly.

It looks into private parts: no time tells how often the library is asked.
"""

import pytest
import rule_cases
from cel_expr_python import cel

from drivers.host import rule_files
from drivers.host.facts import fact
from drivers.host.rules import evaluate, rule
from drivers.host.rules.language import expression

KNOWN = ('cpu.cores', 'cpu.flags', 'pci')


@pytest.mark.parametrize(
    ('text', 'names'),
    [
        ('cpu.cores == 8', {'cpu.cores'}),
        ('.cpu.cores == 8', {'cpu.cores'}),
        ("'avx' in .cpu.flags", {'cpu.flags'}),
        ("'avx' in cpu.flags", {'cpu.flags'}),
        ('cpu // the name\n . // goes on\n cores == 8', {'cpu.cores'}),
        ('size(.pci) == 0', {'pci'}),
        ('[pci][0].pci.cpu.cores == 8', {'pci'}),
        ('cpu.flags[0] == local.flag', {'cpu.flags', 'local.flag'}),
    ],
)
def test_a_name_is_found_however_it_is_written(text, names):
    found = expression.compile_expression(text, KNOWN)
    assert set(found.references) == names


class CountingLibrary:
    """CEL's library, which counts the environments that it makes."""

    def __init__(self):
        self.made = 0

    def __getattr__(self, name):
        return getattr(cel, name)

    def NewEnv(self, *args, **options):  # noqa: N802 (the library's name)
        self.made += 1
        return cel.NewEnv(*args, **options)


@pytest.fixture
def library(monkeypatch):
    counting = CountingLibrary()
    monkeypatch.setattr(expression, '_library', lambda: counting)
    expression._environment.cache_clear()
    yield counting
    expression._environment.cache_clear()


def test_the_expressions_of_many_rules_share_an_environment(library, folder):
    """The library takes half a millisecond for the first one of each."""
    names = ('cpu.cores', 'cpu.model_name', 'net', 'kernel.config', 'pci')
    rules = (
        f"- name: rule-{number}\n  when: '{name} != null'\n"
        f"  traits: ['CUSTOM_{{cpu.model_name}}']\n"
        for number, name in enumerate(names * 20)
    )
    folder.write('rules:\n' + ''.join(rules))
    assert len(folder.read().rules) == 100
    assert library.made == 1


class Counting(dict):
    """A device's facts, which count how often all of them are read."""

    read = 0

    def items(self):
        self.read += 1
        return super().items()


def test_a_device_s_values_are_made_once_for_all_rules(tmp_path):
    facts = Counting(speed=rule_cases.one('net.speed', 10))
    device = fact.Device(family='net', name='ens1', facts=facts)
    words = rule.Vocabulary.of_names(['net.speed'])
    rules = (
        f'- name: rule-{number}\n  for_each: net\n'
        "  traits: ['CUSTOM_{device.speed}']\n"
        for number in range(10)
    )
    (tmp_path / 'a.yaml').write_text('rules:\n' + ''.join(rules))
    found = rule_files.read(str(tmp_path), words, given=True, starter=False)
    run = evaluate.Evaluation(
        fact.Facts(facts={}, devices={'net': (device,)}),
        words,
        rule_cases.NODE,
        lambda: 0.0,
    )
    outcomes = list(run.outcomes(found.rules))
    assert {o.gift.traits for o in outcomes} == {frozenset({'CUSTOM_10'})}
    assert facts.read == 1
