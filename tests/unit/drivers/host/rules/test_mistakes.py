# SPDX-License-Identifier: Apache-2.0
"""A mistake in a rule file names file, line, column, and the remedy."""

import textwrap

import pytest

from drivers.host.rules import positions

WRONG = (
    (
        'when: "\'avx\' in cpu.flag"',
        '2:19: rule one: there is no fact cpu.flag: did you mean cpu.flags?',
    ),
    (
        'when: cpu.cores > 1 && (',
        "2:27: rule one: Syntax error: mismatched input '<EOF>'",
    ),
    (
        'when: "\'x\'"',
        (
            '2:10: rule one: a condition gives true or false, and this gives '
            'string; write a comparison'
        ),
    ),
    (
        'when: |\n    cpu.cores > 1\n    && cpu.corse > 2',
        '4:8: rule one: there is no fact cpu.corse: did you mean cpu.cores?',
    ),
    (
        'when: device.speed > 1',
        '2:9: rule one: there is no fact device.speed',
    ),
    (
        'when: pci.map(p, p.vendor).size() > 0',
        (
            '2:9: rule one: map() is not allowed here; use exists, all, '
            'exists_one or filter'
        ),
    ),
    (
        'when: has(cpu.cores)',
        '2:9: rule one: has() asks for an entry of a fact that is a map',
    ),
    (
        "when: cpu.model_name.matches('(a')",
        '2:32: rule one: invalid regular expression: missing ): (a',
    ),
    (
        "traits: ['CUSTOM_A_{cpu.coers}']",
        '2:23: rule one: there is no fact cpu.coers: did you mean cpu.cores?',
    ),
    ('traits: [HW_CPU_X86_AVX3]', '2:12: rule one: '),
    (
        'traits: [CUSTOM_a]',
        "2:12: rule one: 'CUSTOM_a' is no trait; write CUSTOM_A",
    ),
    (
        "traits: ['HW_NIC_{cpu.cores}']",
        (
            "2:13: rule one: 'HW_NIC_{cpu.cores}' has an expression; begin it "
            'with CUSTOM_'
        ),
    ),
    (
        'traits:\n  - CUSTOM_A: cpu.corez > 1',
        '3:15: rule one: there is no fact cpu.corez: did you mean cpu.cores?',
    ),
    (
        "traits: ['CUSTOM_{A']",
        '2:20: rule one: { stands alone; write {expression}',
    ),
    (
        'inventory: {VCPU: 4}',
        (
            '2:3: rule one: a rule gives no inventory to the root, which has the '
            "hypervisor's own; add child: '{node}_NAME'"
        ),
    ),
    (
        "child: 'nvme'",
        (
            "2:11: rule one: the name 'nvme' would be the same on every host, "
            'and names of providers are unique; write {node} in it'
        ),
    ),
    (
        "child: '{node}_a'\n  inventory: {VCPUS: 4}",
        '3:15: rule one: VCPUS is no standard class: did you mean VCPU?',
    ),
    (
        "child: '{node}_a'\n  inventory: {VCPU: 0}",
        '3:21: rule one: 0 is too small; write 1 or more',
    ),
    (
        "child: '{node}_a'\n  inventory: {VCPU: cpu.coers}",
        '3:21: rule one: there is no fact cpu.coers: did you mean cpu.cores?',
    ),
    ('for_each: cpu', "2:1: rules[0].for_each: 'cpu' is wrong here; write"),
    ('trait: [CUSTOM_A]', '2:1: rules[0]: the key '),
)


@pytest.mark.parametrize(('text', 'line'), WRONG)
def test_a_mistake_says_where_it_is_and_what_to_write(folder, text, line):
    extra = '' if 'traits:' in text else '\n  traits: [CUSTOM_X]'
    path = folder.write(f'rules:\n- name: one\n  {text}{extra}\n')
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    first, _, rest = line.partition(':')
    expected = f'{path}:{int(first) + 1}:{rest}'
    assert any(
        str(found).startswith(expected) for found in raised.value.mistakes
    ), (expected, str(raised.value))


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
