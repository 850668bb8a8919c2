# SPDX-License-Identifier: Apache-2.0
"""Hostile rule files and rules: one line about each, and the rest goes on."""

import itertools
import os
import sys

import pytest
import rule_cases

from compute_agent import errors
from drivers.host import rule_files
from drivers.host.rules import evaluate, placing, positions
from drivers.host.rules.language import expression, lexing
from drivers.host.rules.rule import Verdict

GOOD = 'rules:\n- name: good\n  traits: [CUSTOM_GOOD]\n'
MANY = ', '.join(str(number) for number in range(100))


def _line(folder, name):
    """Return the one line about a file; the good file is in force."""
    found = folder.read()
    assert [rule.name for rule in found.rules] == ['good']
    (line,) = found.left_out
    return line.replace(f'{folder.path}/{name}', 'FILE')


def test_a_symbolic_link_is_left_out(folder):
    folder.write(GOOD)
    (folder.path / 'b.yaml').symlink_to('/etc/passwd')
    assert _line(folder, 'b.yaml') == (
        'FILE is left out: it is a symbolic link; put the file itself there'
    )


@pytest.mark.parametrize('mode', [0o664, 0o646])
def test_a_file_that_others_may_write_is_left_out(folder, mode):
    folder.write(GOOD)
    folder.write(GOOD.replace('good', 'bad'), 'b.yaml').chmod(mode)
    assert _line(folder, 'b.yaml') == (
        'FILE is left out: users other than its owner may write to it; '
        'run "chmod go-w FILE"'
    )


def _given_away(path):
    if os.geteuid() != 0:
        pytest.skip('only root gives folders away')
    os.chown(path, 4711, -1)


@pytest.mark.parametrize(
    ('spoil', 'why'),
    [
        (lambda path: path.chmod(0o775), 'users other than its owner'),
        (lambda path: path.chmod(0o757), 'users other than its owner'),
        (_given_away, 'it belongs to user 4711'),
    ],
)
def test_a_folder_that_others_may_change_is_refused(folder, spoil, why):
    folder.write(GOOD)
    spoil(folder.path)
    with pytest.raises(errors.ConfigError, match=why):
        folder.read()


@pytest.mark.skipif(os.geteuid() != 0, reason='only root gives files away')
def test_a_file_of_another_user_is_left_out(folder):
    folder.write(GOOD)
    os.chown(folder.write(GOOD.replace('good', 'bad'), 'b.yaml'), 4711, 0)
    assert _line(folder, 'b.yaml') == (
        'FILE is left out: it belongs to user 4711; run "chown root FILE"'
    )


def test_a_file_of_100_megabytes_is_left_out_unread(folder):
    folder.write(GOOD)
    with (folder.path / 'b.yaml').open('wb') as file:
        file.truncate(100_000_000)
    assert _line(folder, 'b.yaml') == (
        'FILE is left out: it has more than 1000000 bytes; divide it'
    )


def test_a_pipe_is_left_out(folder):
    folder.write(GOOD)
    os.mkfifo(folder.path / 'b.yaml')
    assert _line(folder, 'b.yaml') == (
        'FILE is left out: it is not a regular file'
    )


def test_nothing_is_removed_while_a_file_is_left_out(folder):
    folder.write(GOOD)
    (folder.path / 'b.yaml').symlink_to('a.yaml')
    before = {
        'traits': ['CUSTOM_OLD', 'CUSTOM_GOOD'],
        'children': {'cn1_x': {'traits': ['CUSTOM_RULE_BAD']}},
    }
    in_force = rule_files.Rules(folder.read, folder.words)
    tree = rule_cases.tree_of(before)
    in_force.place(tree, rule_cases.NODE, folder.facts)
    assert tree.exists('cn1_x')
    (asserted,) = (
        sources['driver']
        for (uuid, _), sources in tree.assertions.items()
        if uuid == rule_cases.ROOT_UUID
    )
    assert asserted.keep
    assert asserted.names == {'CUSTOM_GOOD'}
    assert 'rules are missing' in tree.notes[0]


def _link_to_a(path):
    path.symlink_to('a.yaml')


def _wrong(path):
    path.write_text('rules: 3')


def test_a_reload_takes_all_files_or_none(folder):
    folder.write(GOOD)
    in_force = rule_files.Rules(folder.read, folder.words)
    for name, make in (
        ('b.yaml', _link_to_a),
        ('b.yaml', _wrong),
    ):
        make(folder.path / name)
        (folder.path / 'a.yaml').write_text(GOOD.replace('good', 'other'))
        with pytest.raises(errors.ConfigError):
            in_force.reload()
        (folder.path / name).unlink()
        results = in_force.results(folder.facts, 'cn1')
        assert [result.rule for result in results] == ['good']
    in_force.reload()
    results = in_force.results(folder.facts, 'cn1')
    assert [result.rule for result in results] == ['other']


def test_without_the_library_no_rule_is_in_force_and_nothing_is_removed(
    folder, monkeypatch
):
    folder.write(f'{GOOD}  when: cpu.cores > 1\n')
    monkeypatch.setitem(sys.modules, 'cel_expr_python', None)
    found = folder.read()
    assert found.rules == ()
    assert found.left_out == (
        (
            'no rule is in force: rules need the package cel-expr-python; '
            "install 'compute-agent[host]'"
        ),
    )


def test_a_rule_that_explodes_is_unknown_and_the_others_go_on(folder):
    nested = f'[{MANY}].all(a, [{MANY}].all(b, a == b || true))'
    folder.write(
        f'{GOOD}- name: explodes\n  when: "{nested}"\n  traits: [CUSTOM_X]\n'
    )
    good, explodes = folder.outcomes()
    assert good.verdict is Verdict.GIVES
    assert explodes.verdict is Verdict.UNKNOWN
    assert explodes.reason == 'Iteration budget exceeded'


@pytest.mark.parametrize(
    ('when', 'why'),
    [
        ("['a'].exists(x, [x + x].exists(y, y == 'a'))", '+ is not allowed'),
        (
            "['a'].all(a, ['a'].all(b, ['a'].all(c, ['a'].all(d, true))))",
            'nest them less',
        ),
        (f'{"(" * 200}true{")" * 200}', 'recursion'),
        (f"'{'a' * 1000}' == 'a'", 'of at most 1000 characters'),
        ('[1].map(x, [x, x]) == []', 'map() is not allowed'),
        ("r'\\'.size() == 1 || [1].map(x, [x, x]) == []", 'map()'),
    ],
)  # fmt: skip
def test_a_rule_that_could_grow_without_limit_is_refused(folder, when, why):
    folder.write(
        f'{GOOD}- name: grows\n  when: |\n    {when}\n  traits: [CUSTOM_X]\n'
    )
    with pytest.raises(positions.WrongRules) as raised:
        folder.read()
    assert why in str(raised.value)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    'part',
    [
        'when: "{}"\n  traits: [CUSTOM_X]',
        'traits: [{{CUSTOM_X: "{}"}}]',
        'traits: ["CUSTOM_{{{}}}"]',
        "child: '{{node}}_{{{}}}'",
        "child: '{{node}}'\n  inventory: {{VCPU: '{}'}}",
        "child: '{{node}}'\n  inventory: {{VCPU: {{total: '{}'}}}}",
    ],
)
def test_a_long_expression_is_refused_by_its_length_alone(
    folder, part, monkeypatch
):
    monkeypatch.setattr(lexing, 'tokens', None)
    folder.write(f'rules:\n- name: one\n  {part.format("(" * 50_000)}\n')
    with pytest.raises(positions.WrongRules, match='at most 1000 characters'):
        folder.read()


def test_a_long_text_is_refused_before_its_words_are_sought(monkeypatch):
    monkeypatch.setattr(lexing, 'tokens', None)
    with pytest.raises(expression.Invalid, match='write at most 1000'):
        expression.compile_expression('(' * 1001, [])


@pytest.mark.parametrize(
    ('one', 'other'),
    [(1, True), (1, 1.0), ((1,), (True,)), ({'a': 0}, {'a': False})],
)
def test_a_change_of_type_is_a_change(folder, one, other):
    folder.write("rules:\n- name: one\n  traits: ['CUSTOM_{local.x}']\n")
    in_force = rule_files.Rules(folder.read, folder.words)
    seen = [
        in_force.outcomes(
            rule_cases.facts_of({'facts': {'local.x': value}}), 'cn1'
        )
        for value in (one, other, other)
    ]
    assert seen[0] is not seen[1]
    assert seen[1] is seen[2]


def test_a_pattern_that_backtracks_takes_linear_time(folder):
    folder.write(
        f'{GOOD}- name: backtracks\n'
        f"  when: \"'{'a' * 500}b'.matches('^(a+)+$')\"\n"
        '  traits: [CUSTOM_X]\n'
    )
    _, backtracks = folder.outcomes()
    assert backtracks.verdict is Verdict.DOES_NOT


def test_a_rule_that_takes_too_long_over_many_devices_is_unknown(folder):
    folder.write(
        'rules:\n- name: slow\n  for_each: net\n  traits: [CUSTOM_SLOW]\n'
        '- name: good\n  traits: [CUSTOM_GOOD]\n'
    )
    facts = rule_cases.facts_of(
        {'devices': {'net': {f'ens{n}': {'speed': n} for n in range(100)}}}
    )
    words = rule_cases.words_of(facts)
    ticks = itertools.count(step=0.1)
    run = evaluate.Evaluation(facts, words, 'cn1', lambda: next(ticks))
    slow, good = run.outcomes(folder.read().rules)
    assert slow.verdict is Verdict.UNKNOWN
    assert slow.reason == 'the rule takes too long here; make it simpler'
    assert good.verdict is Verdict.GIVES


def test_a_rule_that_takes_too_long_takes_nothing_from_a_child(folder):
    folder.write(
        "rules:\n- name: slow\n  for_each: net\n  child: '{node}_a'\n"
        '  inventory: {CUSTOM_B: 1}\n'
        "- name: good\n  child: '{node}_a'\n  traits: [CUSTOM_GOOD]\n"
    )
    facts = rule_cases.facts_of(
        {'devices': {'net': {f'ens{n}': {'speed': n} for n in range(100)}}}
    )
    ticks = itertools.count(step=0.1)
    run = evaluate.Evaluation(facts, folder.words, 'cn1', lambda: next(ticks))
    before = {
        'traits': ['CUSTOM_RULE_SLOW', 'CUSTOM_RULE_GOOD'],
        'inventory': {'CUSTOM_B': {'total': 100}},
    }
    tree = rule_cases.placed(
        list(run.outcomes(folder.read().rules)),
        {'children': {'cn1_a': before}},
    )
    assert rule_cases.described(tree)['children']['cn1_a'] == {
        'traits': ['CUSTOM_GOOD', 'CUSTOM_RULE_GOOD', 'CUSTOM_RULE_SLOW'],
        'inventory': before['inventory'],
    }


def test_the_plan_warns_of_many_children(folder):
    folder.write(
        'rules:\n- name: cards\n  for_each: net\n'
        "  child: '{node}_{device.name}'\n"
    )
    for count, warned in ((32, 0), (33, 1)):
        facts = rule_cases.facts_of(
            {'devices': {'net': {f'e{n}': {} for n in range(count)}}}
        )
        found = rule_cases.outcomes(facts, folder.read(), folder.words)
        tree = rule_cases.tree_of({})
        placing.place(tree, 'cn1', found)
        assert len(tree.notes) == warned
    assert tree.notes == [
        (
            'the rules give more than 32 children, and each costs nova-compute a '
            'request in each of its cycles; let rules match fewer devices, or '
            'pool them under one name: cards'
        )
    ]
