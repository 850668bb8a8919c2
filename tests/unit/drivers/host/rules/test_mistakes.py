# SPDX-License-Identifier: Apache-2.0
"""A mistake in a rule file names file, line, column, and the remedy."""

import textwrap

import pytest
import wrong_files

from drivers.host.rules import positions


@wrong_files.cases('rules')
def test_a_mistake_says_where_it_is_and_what_to_write(folder, text, expected):
    extra = '' if 'traits:' in text else '\n  traits: [CUSTOM_X]'
    path = folder.write(f'rules:\n- name: one\n  {text}{extra}\n')
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    first, _, rest = expected.partition(':')
    line = f'{path}:{int(first) + 1}:{rest}'
    assert any(
        str(found).startswith(line) for found in raised.value.mistakes
    ), (line, str(raised.value))


def test_all_mistakes_of_all_files_are_told_at_once(folder):
    rule = 'rules:\n- name: {}\n  when: {}\n  traits: [CUSTOM_A]\n'
    folder.write(rule.format('one', 'cpu.a == 1 || cpu.b == 2'), 'a.yaml')
    folder.write(rule.format('two', '1 +'), 'b.yaml')
    folder.write('rules: 3', 'c.yaml')
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    assert [
        (m.path.rpartition('/')[2], m.line) for m in raised.value.mistakes
    ] == [('a.yaml', 3), ('a.yaml', 3), ('b.yaml', 3), ('c.yaml', 1)]


def test_two_rules_of_one_name_are_a_mistake_that_names_both(folder):
    rule = 'rules:\n- name: one\n  traits: [CUSTOM_A]\n'
    first = folder.write(rule, 'a.yaml')
    second = folder.write(rule, 'b.yaml')
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    assert str(raised.value) == (
        f'{second}:2:1: rule one: there is a rule one at {first}:2; give this '
        'one another name'
    )


def test_one_line_switches_a_rule_of_another_file(folder):
    folder.write(
        textwrap.dedent("""
        rules:
        - {name: one, traits: [CUSTOM_A]}
        - {name: two, enabled: false, traits: [CUSTOM_B]}
        """)
    )
    folder.write('disabled: [one]\nenabled: [two]\n', 'z.yaml')
    rules = {rule.name: rule.enabled for rule in folder.read().rules}
    assert rules == {'one': False, 'two': True}


def test_a_switch_without_a_rule_and_a_doubt_are_mistakes(folder):
    folder.write('rules:\n- {name: fast-disk, traits: [CUSTOM_A]}\n')
    path = folder.write(
        'disabled: [fast-disks, fast-disk]\nenabled: [fast-disk]\n', 'z.yaml'
    )
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    assert list(raised.value.lines) == [
        f'{path}:1:12: there is no rule fast-disks: did you mean fast-disk?',
        (
            f'{path}:1:24: rule fast-disk is also under enabled at {path}:2; '
            'keep one of the two lines'
        ),
    ]
